#include "agent/qos/kernel_floor.h"

#include <algorithm>

#include "agent/executor/owners.h"
#include "agent/qos/floor_memory.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

constexpr std::string_view kIdle = kernel::resource_name::kCpuIdle;
// Against 100 that everybody has: disks serve services first, and batch work that holds a lock of
// the file system is still not starved.
constexpr int64_t kIoWeight = 10;

bool isColocating(const Look& look) {
  const auto& threshold = look.slo->resourceUsedThresholdWithBe;
  return threshold && threshold->enable.value_or(false);
}

bool isBelow(const PodLook& pod) {
  return pod.tier == kernel::PodTier::kBestEffort;
}

bool isLabelled(const PodLook& pod) {
  return pod.pod && api::rawQos(pod.pod->meta.labels) == api::Qos::kBe;
}

// Whether nobody in the group is there without the label. A directory whose pod is not known yet
// does not change the answer: it will be known in a moment.
bool isAllBatch(const Look& look, bool before) {
  bool unknown = false;
  for (const PodLook& pod : look.pods) {
    if (!isBelow(pod)) continue;
    if (!pod.pod)
      unknown = true;
    else if (!isLabelled(pod))
      return false;
  }
  return unknown ? before : true;
}

// Where the kernel weighs: io.weight by its cost model, the bfq files by the scheduler of that
// name.
void wantIoWeight(const Situation& now, const std::string& cgroup, Wishes& out) {
  const std::string why = "services first on disks";
  if (now.look.machine->trees().isV2())
    out.entry(cgroup, weightFileV2(now, cgroup), "default",
              FileValue::ofText(std::to_string(kIoWeight)), why);
  else if (now.present.present(cgroup, kernel::resource_name::kBlkioBfqWeight))
    out.base(cgroup, kernel::resource_name::kBlkioBfqWeight, FileValue::of(kIoWeight), why);
}

bool isIdle(const Situation& now, std::string_view cgroup) {
  const auto idle = now.present.present(cgroup, kIdle);
  return idle && idle->number == 1;
}

}  // namespace

StrategyInfo KernelFloor::info() const {
  return {.name = owner::kKernelFloor, .gate = "KernelFloor"};
}

Wishes KernelFloor::decide(const Situation& now) {
  if (!now.look.slo) return Wishes::holding("no NodeSLO yet");
  Wishes out;
  if (!isColocating(now.look)) return out;
  const bool hasIdle = now.look.machine->can().has(kernel::Feature::kCpuIdle);
  if (!hasIdle) out.note = "this kernel has no cpu.idle";
  wantFloorMemory(now, out);
  // Nobody but us weighs disks, so there the group may be one even under a kubelet.
  wholeGroup_ = isAllBatch(now.look, wholeGroup_);
  const std::string group = now.look.machine->layout().tierDir(kernel::PodTier::kBestEffort);
  if (wholeGroup_) wantIoWeight(now, group, out);
  if (wholeGroup_ && ownsGroup_ && hasIdle)
    out.base(group, kIdle, FileValue::of(1), "every pod in it is labelled BE");
  for (const PodLook& pod : now.look.pods) {
    if (!isLabelled(pod) || !isBelow(pod)) continue;
    if (!wholeGroup_) wantIoWeight(now, std::string(pod.cgroup), out);
    if (hasIdle && !(wholeGroup_ && ownsGroup_))
      out.base(std::string(pod.cgroup), kIdle, FileValue::of(1), "a best-effort pod");
  }
  return out;
}

std::string_view weightFileV2(const Situation& now, std::string_view cgroup) {
  const bool onlyBfq = !now.present.present(cgroup, kernel::resource_name::kIoWeight) &&
                       now.present.present(cgroup, kernel::resource_name::kIoBfqWeight).has_value();
  return onlyBfq ? kernel::resource_name::kIoBfqWeight : kernel::resource_name::kIoWeight;
}

FloorPlace floorInForce(const Situation& now) {
  if (isIdle(now, now.look.machine->layout().tierDir(kernel::PodTier::kBestEffort)))
    return FloorPlace::kGroup;
  bool any = false;
  for (const PodLook& pod : now.look.pods) {
    if (!isBelow(pod)) continue;
    if (!isIdle(now, pod.cgroup)) return FloorPlace::kNone;
    any = true;
  }
  return any ? FloorPlace::kPods : FloorPlace::kNone;
}

}  // namespace mangrove::agent
