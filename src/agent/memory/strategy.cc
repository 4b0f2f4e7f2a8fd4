#include "agent/memory/strategy.h"

#include <fmt/format.h>

#include "agent/executor/owners.h"
#include "agent/qos/evict/least_loss.h"
#include "agent/qos/evict/task.h"
#include "agent/qos/memory_qos/values.h"
#include "api/annotations/eviction.h"
#include "api/pod/classes.h"

namespace mangrove::agent {
namespace {

bool isColocating(const Look& look) {
  const auto& threshold = look.slo->resourceUsedThresholdWithBe;
  return threshold && threshold->enable.value_or(false);
}

bool isBatch(const PodLook& look) {
  return look.pod && look.tier == kernel::PodTier::kBestEffort &&
         api::rawQos(look.pod->meta.labels) == api::Qos::kBe;
}

BatchPodOrder orderFor(const PodLook& look, const EvictedLately& lately, WallTime now) {
  const api::Pod& pod = *look.pod;
  BatchPodOrder order{std::string(look.uid), std::string(look.cgroup)};
  // Its CPU time is read when memory is wanted.
  order.stake = victimCandidate(pod, look.usage.cpu,
                                {.now = now, .cpuSeconds = {}, .tally = &lately.tally()});
  order.priority = api::priorityWithDefault(pod);
  order.evictable = !api::isMirror(pod) && isActivePhase(pod) &&
                    !lately.wasRefused(pod.meta.uid.str()) &&
                    api::isEvictableBy(pod.meta.annotations, feature::kBeMemory);
  order.leaving = pod.meta.isDeleting() || lately.has(pod.meta.uid.str());
  return order;
}

void wantCaps(const std::vector<MemoryCap>& caps, Wishes& out) {
  for (const MemoryCap& cap : caps) {
    out.values.push_back({cap.cgroup, cap.resource, Part::cap(cap.most.v),
                          "services needed the memory: given back by best-effort work"});
    out.values.back().before = FileValue::of(cap.before);
  }
}

RungsThere rungsOf(const Situation& now) {
  const kernel::Capabilities& can = now.look.machine->can();
  const bool isV2 = now.look.machine->trees().isV2();
  return {.high = isV2 && can.has(kernel::Feature::kMemoryHigh),
          .reclaim = can.has(kernel::Feature::kMemoryReclaim),
          .limit = !isV2 && can.has(kernel::Feature::kMemoryController),
          .freeze = can.has(kernel::Feature::kCgroupFreeze),
          .evict = now.gates.on(feature::kBeMemory),
          .swap = can.has(kernel::Feature::kSwap)};
}

// Where the kernel keeps watermarks itself, the memory QoS strategy writes them.
void addMarks(const Situation& now, const PodLook& look, GiveBackOrders& orders) {
  const bool kernelDoes = now.look.machine->can().has(kernel::Feature::kMemoryWatermark);
  if (kernelDoes || !look.pod || !now.look.slo->resourceQosStrategy) return;
  if (!now.gates.on("CgroupReconcile")) return;
  const api::MemoryQos qos =
      memoryQosOf(*look.pod, saidBy(look)->memory, *now.look.slo->resourceQosStrategy);
  if (qos.wmarkRatio.value_or(0) <= 0) return;
  const auto mark = [&](std::string_view cgroup) {
    orders.marks.push_back(
        {std::string(cgroup), *qos.wmarkRatio, qos.wmarkScalePermill.value_or(0)});
  };
  mark(look.cgroup);
  for (const ContainerLook& container : look.containers) mark(container.cgroup);
}

}  // namespace

GiveBackOrders giveBackOrders(const Situation& now, const EvictedLately& lately) {
  const Machine& machine = *now.look.machine;
  GiveBackOrders orders;
  orders.trees = std::make_shared<const kernel::Hierarchies>(machine.trees());
  orders.procMemInfo = machine.mounts().procFile("meminfo");
  orders.pods = machine.layout().root();
  if (machine.layout().bestEffort() == kernel::BestEffortPlace::kBeside)
    orders.beside = machine.layout().tierDir(kernel::PodTier::kBestEffort);
  orders.services.push_back(
      machine.trees().pressurePath(machine.layout().tierDir(kernel::PodTier::kBurstable)));
  for (const PodLook& pod : now.look.pods) {
    if (pod.tier == kernel::PodTier::kGuaranteed)
      orders.services.push_back(machine.trees().pressurePath(pod.cgroup));
    if (isBatch(pod)) orders.batch.push_back(orderFor(pod, lately, now.look.wall));
    addMarks(now, pod, orders);
  }
  orders.there = rungsOf(now);
  return orders;
}

StrategyInfo MemoryGiveBack::info() const {
  return {.name = owner::kGiveBack, .gate = "MemoryGiveBack"};
}

Wishes MemoryGiveBack::decide(const Situation& now) {
  if (!now.look.slo) return Wishes::holding("no NodeSLO yet");
  Wishes out;
  if (!isColocating(now.look)) {
    giveBack_.rest();
    // Wanted once more, so that the executor knows what was there before; then given back.
    wantCaps(giveBack_.takeCaps(), out);
    out.note = "colocation is off";
    return out;
  }
  GiveBackOrders orders = giveBackOrders(now, *lately_);
  orders.dryRun = dryRun_;
  giveBack_.order(std::move(orders));
  const MemoryNeed need = giveBack_.need();
  out.note = fmt::format("room {} MiB, {} MiB should be left, {} MiB wanted", need.room.v / kMiB.v,
                         need.keep.v / kMiB.v, need.wanted.v / kMiB.v);
  wantCaps(giveBack_.caps(), out);
  return out;
}

json::Value MemoryGiveBack::state() const {
  const std::vector<std::string> frozen = giveBack_.frozen();
  if (frozen.empty()) return nullptr;
  json::Array names;
  for (const std::string& one : frozen) names.push_back(json::Value(one));
  return json::Object{{"frozen", std::move(names)}};
}

std::vector<std::string> frozenOf(const json::Value& state) {
  std::vector<std::string> out;
  const json::Object* top = state.if_object();
  const json::Value* names = top ? top->if_contains("frozen") : nullptr;
  if (!names || !names->is_array()) return out;
  for (const json::Value& one : names->get_array())
    if (one.is_string()) out.emplace_back(one.get_string());
  return out;
}

void MemoryGiveBack::restore(const json::Value& state) {
  giveBack_.adopt(frozenOf(state));
}

}  // namespace mangrove::agent
