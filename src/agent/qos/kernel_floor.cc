#include "agent/qos/kernel_floor.h"

#include "agent/executor/owners.h"

namespace mangrove::agent {
namespace {

bool isColocating(const Look& look) {
  const auto& threshold = look.slo->resourceUsedThresholdWithBe;
  return threshold && threshold->enable.value_or(false);
}

}  // namespace

StrategyInfo KernelFloor::info() const {
  return {.name = owner::kKernelFloor, .gate = "KernelFloor"};
}

Wishes KernelFloor::decide(const Situation& now) {
  if (!now.look.slo) return Wishes::holding("no NodeSLO yet");
  Wishes out;
  if (!now.look.machine->can().has(kernel::Feature::kCpuIdle)) {
    out.note = "this kernel has no cpu.idle";
    return out;
  }
  if (!isColocating(now.look)) return out;
  for (const PodLook& pod : now.look.pods) {
    const bool labelled = pod.pod && api::rawQos(pod.pod->meta.labels) == api::Qos::kBe;
    if (labelled && pod.tier == kernel::PodTier::kBestEffort)
      out.base(std::string(pod.cgroup), "cpu.idle", FileValue::of(1), "a best-effort pod");
  }
  return out;
}

}  // namespace mangrove::agent
