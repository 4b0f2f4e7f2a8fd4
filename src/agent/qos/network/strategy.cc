#include "agent/qos/network/strategy.h"

#include <algorithm>

#include "agent/executor/owners.h"
#include "agent/qos/interference/board.h"
#include "agent/qos/network/plan.h"
#include "api/annotations/qos.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

// By cgroup under v2; under v1 net_cls does it.
std::string hostDirOf(const Look& look, const api::Pod& pod) {
  if (!look.machine->trees().isV2()) return "";
  for (const PodLook& one : look.pods)
    if (one.pod && one.pod->meta.uid == pod.meta.uid)
      return look.machine->root().root() /
             look.machine->trees().path(kernel::Controller::kCpu, one.cgroup);
  return "";
}

std::vector<NetPod> podsOf(const Look& look) {
  std::vector<NetPod> out;
  look.book->each([&](const PodPtr& pod, const PodSaid& said) {
    if (api::isTerminated(*pod)) return;
    NetPod one{pod->meta.uid.str(), api::rawQos(pod->meta.labels), "", {}};
    if (!pod->spec->hostNetwork) {
      one.address = pod->status.podIp.str();
      one.second = pod->status.secondIp.str();
    }
    if (said.network && *said.network && (*said.network)->egressLimit)
      one.limitBits = (*said.network)->egressLimit->value();
    if (pod->spec->hostNetwork) one.dir = hostDirOf(look, *pod);
    out.push_back(std::move(one));
  });
  return out;
}

// By cgroup where the kernel has net_cls; it covers pods in the host's network too.
void wantClassIds(const Look& look, const std::vector<NetPod>& pods, Wishes& out) {
  if (!look.machine->can().has(kernel::Feature::kNetClass)) return;
  const std::map<std::string, uint16_t> minors = netMinors(pods);
  for (const PodLook& pod : look.pods) {
    const auto minor = pod.pod ? minors.find(pod.pod->meta.uid.str()) : minors.end();
    if (minor != minors.end())
      out.base(std::string(pod.cgroup), kernel::resource_name::kNetClass,
               FileValue::of(classId(minor->second)),
               minor->second >= kNetFirstOwn ? "network class of the pod's own limit"
                                             : "network class of the pod's QoS");
  }
}

bool isOn(const std::optional<api::ResourceQos>& group) {
  return group && group->networkQos && group->networkQos->enable.value_or(false);
}

// A class that is on, or a pod that limits itself.
bool isWanted(const api::ResourceQosStrategy& all, const std::vector<NetPod>& pods) {
  if (isOn(all.lsrClass) || isOn(all.lsClass) || isOn(all.beClass) || isOn(all.systemClass))
    return true;
  return std::any_of(pods.begin(), pods.end(), [](const NetPod& pod) { return pod.limitBits; });
}

// Of IPv4's default route; a machine without one goes by IPv6's.
std::string deviceOf(const Situation& now) {
  const auto read = [&](const char* file) {
    return now.present.text(now.look.machine->mounts().procFile(file)).value_or("");
  };
  const std::string device = defaultDevice(read("net/route"));
  return device.empty() ? defaultDevice6(read("net/ipv6_route")) : device;
}

Wishes nothing(std::string note) {
  Wishes out;
  out.note = std::move(note);
  return out;
}

}  // namespace

StrategyInfo NetworkQos::info() const {
  return {.name = owner::kNetworkQos, .gate = "TCNetworkQoS", .period = std::chrono::seconds(1)};
}

Wishes NetworkQos::decide(const Situation& now) {
  const auto* slo = now.look.slo;
  if (!slo || !slo->resourceQosStrategy) return Wishes::holding("no NodeSLO yet");
  const auto& policies = slo->resourceQosStrategy->policies;
  if (policies && policies->netQosPolicy.value_or("tc") != "tc")
    return nothing("the policy is " + *policies->netQosPolicy + ", not tc");
  const auto& system = slo->systemStrategy;
  if (!system || !system->totalNetworkBandwidth || system->totalNetworkBandwidth->value() <= 0)
    return nothing("totalNetworkBandwidth is not said");
  const std::vector<NetPod> pods = podsOf(now.look);
  if (!isWanted(*slo->resourceQosStrategy, pods))
    return nothing("networkQOS is off in every class and no pod has a limit of its own");
  const std::string device = deviceOf(now);
  if (device.empty()) return nothing("there is no default route");
  Wishes out;
  const bool held = board_ && !board_->hold.networkWhy.empty();
  out.network = networkPlan(
      {*slo->resourceQosStrategy, system->totalNetworkBandwidth->value(), device, pods, held});
  out.note = "services before batch work on " + device;
  if (held) out.note += "; " + board_->hold.networkWhy;
  if (board_ && out.network) board_->means.networkAt = now.look.at;
  if (out.network) wantClassIds(now.look, pods, out);
  return out;
}

}  // namespace mangrove::agent
