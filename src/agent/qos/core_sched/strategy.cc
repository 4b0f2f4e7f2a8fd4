#include "agent/qos/core_sched/strategy.h"

#include <fmt/format.h>

#include "agent/executor/owners.h"
#include "api/annotations/qos.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

const api::CpuQosConfig* qosOf(const std::optional<api::ResourceQos>& group) {
  return group && group->cpuQos ? &*group->cpuQos : nullptr;
}

bool isOn(const api::CpuQosConfig* qos) {
  return qos && qos->enable.value_or(false);
}

// The settings of a pod's class; an unlabelled guaranteed pod counts as LSR where that is on.
const api::CpuQosConfig* classOf(const api::ResourceQosStrategy& strategy, const api::Pod& pod) {
  const auto* lsr = qosOf(strategy.lsrClass);
  const auto* ls = qosOf(strategy.lsClass);
  switch (api::qosWithDefault(pod)) {
    case api::Qos::kLse:
    case api::Qos::kLsr:
      return api::rawQos(pod.meta.labels) == api::Qos::kNone && !isOn(lsr) ? ls : lsr;
    case api::Qos::kBe:
      return qosOf(strategy.beClass);
    default:
      return ls;
  }
}

bool isPolicy(const api::ResourceQosStrategy& strategy) {
  return strategy.policies && strategy.policies->cpuPolicy.value_or("") == "coreSched";
}

}  // namespace

std::optional<std::string> coreGroup(const api::ResourceQosStrategy& strategy,
                                     const api::Pod& pod) {
  if (api::rawQos(pod.meta.labels) == api::Qos::kSystem) return std::nullopt;
  const api::CpuQosConfig* qos = classOf(strategy, pod);
  const api::CoreSched said = api::coreSchedOf(pod.meta.labels);
  if (!isOn(qos) || said.policy == api::CoreSched::Policy::kNone) return "";
  std::string group =
      said.policy == api::CoreSched::Policy::kExclusive ? pod.meta.uid.str() : said.groupId;
  if (qos->coreExpeller.value_or(false)) group += "-expeller";
  // A group without any name is still one of its own.
  return group.empty() ? "default" : group;
}

bool isIdleClass(const api::ResourceQosStrategy& strategy, const api::Pod& pod) {
  const api::CpuQosConfig* qos = classOf(strategy, pod);
  return isOn(qos) && qos->schedIdle.value_or(0) == 1;
}

StrategyInfo CoreSched::info() const {
  return {.name = owner::kCoreSched, .gate = "CoreSched", .period = std::chrono::seconds(1)};
}

Wishes CoreSched::decide(const Situation& now) {
  if (!now.look.slo || !now.look.slo->resourceQosStrategy) return Wishes::holding("no NodeSLO yet");
  const auto& strategy = *now.look.slo->resourceQosStrategy;
  const auto& can = now.look.machine->can();
  Wishes out;
  if (!isPolicy(strategy)) return out;
  // Without siblings there is nobody to keep away.
  using kernel::Feature;
  const Feature decisive =
      can.has(Feature::kCoreScheduling) ? Feature::kSmt : Feature::kCoreScheduling;
  const bool cookies = can.has(decisive);
  if (!cookies) out.note = "no core scheduling: " + can.finding(decisive).detail;
  const std::string identity =
      now.look.machine->mounts().procFile("sys/kernel/sched_group_identity_enabled");
  // The two exclude each other.
  if (cookies) out.base(identity, "switch", FileValue::of(0), "core scheduling takes its place");
  for (const PodLook& pod : now.look.pods) {
    if (!pod.pod || api::isTerminated(*pod.pod)) continue;
    if (isIdleClass(strategy, *pod.pod) && can.has(kernel::Feature::kCpuIdle) &&
        pod.tier == kernel::PodTier::kBestEffort)
      out.base(std::string(pod.cgroup), kernel::resource_name::kCpuIdle, FileValue::of(1),
               "schedIdle of the class");
    const auto group = coreGroup(strategy, *pod.pod);
    if (!group || !cookies) continue;
    for (const ContainerLook& container : pod.containers)
      for (int pid : now.present.members(container.cgroup, kernel::resource_name::kProcs))
        out.cookies.push_back({pid, *group});
  }
  return out;
}

}  // namespace mangrove::agent
