// Tasks that start from what is used: memory and CPU of the node.
#include <algorithm>

#include "agent/qos/evict/task.h"
#include "api/annotations/eviction.h"
#include "api/pod/classes.h"
#include "api/wire/names.h"
#include "base/number/int128.h"

namespace mangrove::agent {
namespace {

constexpr int64_t kDefaultGap = 2;  // percent between threshold and lower bound

struct Bounds {
  bool valid = false;
  int64_t threshold = 0, lower = 0;
};

Bounds boundsOf(const std::optional<Percent>& threshold, const std::optional<Percent>& lower) {
  if (!threshold || threshold->v < 0) return {};
  Bounds out{true, threshold->v, lower ? lower->v : threshold->v - kDefaultGap};
  out.valid = out.lower < out.threshold;
  return out;
}

// capacity * percent / 100 without overflow.
int64_t share(int64_t capacity, int64_t percent) {
  return static_cast<int64_t>(static_cast<Int128>(capacity) * percent / 100);
}

// How much over the lower bound: whole percents, as everybody else counts.
int64_t excess(int64_t used, int64_t capacity, const Bounds& bounds) {
  if (capacity <= 0) return 0;
  const auto percent = static_cast<int64_t>(static_cast<Int128>(used) * 100 / capacity);
  return percent >= bounds.threshold ? share(capacity, percent - bounds.lower) : 0;
}

EvictAmounts memoryOf(const EvictPod& pod) {
  return {{"memory", pod.memory.value_or(Bytes{0}).v}};
}

EvictAmounts cpuOf(const EvictPod& pod) {
  return {{"cpu", static_cast<int64_t>(pod.usedCores.value_or(0) * 1000)}};
}

bool memoryGoesFirst(const EvictPod* a, const EvictPod* b) {
  const auto pa = a->pod->spec->priority, pb = b->pod->spec->priority;
  if (pa && pb && *pa != *pb) return *pa < *pb;
  if (a->memory && b->memory) return *a->memory > *b->memory;
  if (a->memory || b->memory) return a->memory.has_value();
  return a->pod->meta.name.view() > b->pod->meta.name.view();
}

}  // namespace

EvictTask beMemoryTask(const EvictInputs& in) {
  EvictTask task{feature::kBeMemory, false, {}, {}, &memoryOf};
  const Bounds bounds =
      boundsOf(in.slo.memoryEvictThresholdPercent, in.slo.memoryEvictLowerPercent);
  task.valid = bounds.valid;
  const Bytes capacity = in.node.status.capacity.memory();
  const int64_t need = task.valid ? excess(in.memoryUsed.v, capacity.v, bounds) : 0;
  if (need <= 0) return task;
  task.release = {{"memory", need}};
  for (const EvictPod& one : in.pods)
    if (api::rawQos(one.pod->meta.labels) == api::Qos::kBe &&
        api::isEvictableBy(one.pod->meta.annotations, task.feature))
      task.order.push_back(&one);
  std::stable_sort(task.order.begin(), task.order.end(), memoryGoesFirst);
  return task;
}

EvictTask memoryTask(const EvictInputs& in) {
  EvictTask task{feature::kMemory, false, {}, {}, &memoryOf};
  const Bounds bounds =
      boundsOf(in.slo.memoryEvictThresholdPercent, in.slo.memoryEvictLowerPercent);
  task.valid = bounds.valid && in.slo.evictEnabledPriorityThreshold;
  const Bytes capacity = in.node.status.capacity.memory();
  const int64_t need = task.valid ? excess(in.memoryUsed.v, capacity.v, bounds) : 0;
  if (need <= 0) return task;
  task.release = {{"memory", need}};
  task.order = byPriority(
      in.pods, task.feature, *in.slo.evictEnabledPriorityThreshold,
      [](const EvictPod& one) { return static_cast<double>(one.memory.value_or(Bytes{0}).v); });
  return task;
}

EvictTask cpuTask(const EvictInputs& in) {
  EvictTask task{feature::kCpu, false, {}, {}, &cpuOf};
  const Bounds bounds = boundsOf(in.slo.cpuEvictThresholdPercent, in.slo.cpuEvictLowerPercent);
  task.valid = bounds.valid && in.slo.evictEnabledPriorityThreshold;
  const MilliCpu capacity = in.node.status.capacity.cpu();
  const auto used = static_cast<int64_t>(in.cpuUsedAvg * 1000);
  const int64_t need = task.valid ? excess(used, capacity.v, bounds) : 0;
  if (need <= 0) return task;
  task.release = {{"cpu", need}};
  task.order = byPriority(in.pods, task.feature, *in.slo.evictEnabledPriorityThreshold,
                          [](const EvictPod& one) { return one.usedCores.value_or(0); });
  return task;
}

}  // namespace mangrove::agent
