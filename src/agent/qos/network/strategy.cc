#include "agent/qos/network/strategy.h"

#include <algorithm>

#include "agent/executor/owners.h"
#include "agent/qos/network/plan.h"
#include "api/annotations/qos.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

std::vector<NetPod> podsOf(const Look& look) {
  std::vector<NetPod> out;
  look.book->each([&](const PodPtr& pod, const PodSaid& said) {
    if (api::isTerminated(*pod)) return;
    NetPod one{pod->meta.uid.str(), api::rawQos(pod->meta.labels), "", {}};
    if (!pod->spec->hostNetwork) one.address = std::string(pod->status.podIp.view());
    if (said.network && *said.network && (*said.network)->egressLimit)
      one.limitBits = (*said.network)->egressLimit->value();
    out.push_back(std::move(one));
  });
  return out;
}

// By cgroup where the kernel has net_cls; it covers pods in the host's network too.
void wantClassIds(const Look& look, Wishes& out) {
  if (!look.machine->can().has(kernel::Feature::kNetClass)) return;
  for (const PodLook& pod : look.pods) {
    const auto minor = pod.pod ? netClassOf(api::rawQos(pod.pod->meta.labels)) : std::nullopt;
    if (minor)
      out.base(std::string(pod.cgroup), kernel::resource_name::kNetClass,
               FileValue::of(classId(*minor)), "network class of the pod's QoS");
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
  std::vector<NetPod> pods = podsOf(now.look);
  if (!isWanted(*slo->resourceQosStrategy, pods))
    return nothing("networkQOS is off in every class and no pod has a limit of its own");
  const auto routes = now.present.text(now.look.machine->mounts().procFile("net/route"));
  const std::string device = routes ? defaultDevice(*routes) : "";
  if (device.empty()) return nothing("there is no default route");
  Wishes out;
  out.network = networkPlan(
      {*slo->resourceQosStrategy, system->totalNetworkBandwidth->value(), device, std::move(pods)});
  out.note = "services before batch work on " + device;
  if (out.network) wantClassIds(now.look, out);
  return out;
}

}  // namespace mangrove::agent
