#include "agent/qos/network/terway_strategy.h"

#include "agent/executor/owners.h"
#include "agent/executor/plain_file.h"
#include "agent/qos/network/terway.h"
#include "api/annotations/qos.h"
#include "base/text/strings.h"

namespace mangrove::agent {
namespace {

constexpr std::string_view kPolicy = "terway-qos";

// The DaemonSet's mount point when it is there, else the node's own.
std::string folderOf(const PresentValues& present) {
  return present.hasFolder("host-var-lib") ? "host-var-lib/terway/qos/" : "var/lib/terway/qos/";
}

int64_t bytesOf(const std::optional<Quantity>& bits) {
  return bits ? std::max<int64_t>(bits->value(), 0) / 8 : 0;
}

std::vector<TerwayPod> podsOf(const Look& look) {
  // As the node sees it, whatever our own mounts are.
  const std::string_view tree =
      look.machine->trees().isV2() ? "/sys/fs/cgroup/" : "/sys/fs/cgroup/net_cls/";
  std::vector<TerwayPod> out;
  for (const PodLook& one : look.pods) {
    if (!one.pod || api::isTerminated(*one.pod)) continue;
    const api::Pod& pod = *one.pod;
    TerwayPod& told = out.emplace_back();
    told.name = pod.meta.name.str();
    told.ns = pod.meta.ns.str();
    told.uid = pod.meta.uid.str();
    told.priority = terwayPriority(api::rawQos(pod.meta.labels), api::kubeQos(pod));
    told.cgroupDir = std::string(tree) + std::string(one.cgroup);
    const PodSaidPtr said = saidBy(one);
    const auto& limits = said->network;
    if (!limits || !*limits) continue;
    told.ingress = bytesOf((*limits)->ingressLimit);
    told.egress = bytesOf((*limits)->egressLimit);
  }
  return out;
}

// What stood there before us is a predecessor's, and nothing to go back to.
void want(Wishes& out, std::string path, std::string_view text, const std::string& why) {
  Wish wish{std::move(path), kPlainFile, Part::base(FileValue::ofText(std::string(trim(text)))),
            why};
  wish.ours = true;
  out.values.push_back(std::move(wish));
}

}  // namespace

StrategyInfo TerwayQos::info() const {
  return {.name = owner::kTerwayQos, .gate = "TerwayQoS", .period = std::chrono::seconds(1)};
}

Wishes TerwayQos::decide(const Situation& now) {
  const auto* slo = now.look.slo;
  if (!slo || !slo->resourceQosStrategy) return Wishes::holding("no NodeSLO yet");
  const std::string folder = folderOf(now.present);
  const std::string global = folder + "global_bps_config", pods = folder + "pod.json";
  const auto& policies = slo->resourceQosStrategy->policies;
  const std::string policy = policies ? policies->netQosPolicy.value_or("tc") : "tc";
  Wishes out;
  if (policy != kPolicy) {
    out.note = "the policy is " + policy + ", not " + std::string(kPolicy);
    for (const std::string& path : {global, pods})
      if (now.present.text(path)) want(out, path, "", out.note);
    return out;
  }
  const auto& system = slo->systemStrategy;
  const bool said = system && system->totalNetworkBandwidth;
  const int64_t total = said ? system->totalNetworkBandwidth->value() : 0;
  out.note = "told to Terway's data plane";
  if (total <= 0) out.note += "; totalNetworkBandwidth is not said";
  want(out, global, terwayGlobal(*slo->resourceQosStrategy, total), out.note);
  want(out, pods, terwayPods(podsOf(now.look)), out.note);
  return out;
}

}  // namespace mangrove::agent
