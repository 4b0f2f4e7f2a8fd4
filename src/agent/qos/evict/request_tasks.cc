// Tasks that start from what is asked for: satisfaction of best-effort CPU, and requests over what
// is for sale.
#include <algorithm>

#include "agent/qos/evict/task.h"
#include "api/annotations/eviction.h"
#include "api/pod/classes.h"
#include "api/wire/names.h"

namespace mangrove::agent {
namespace {

constexpr int32_t kHighestSoldPriority = 7999;  // of the mid band
constexpr int64_t kDefaultBusy = 90;            // percent of the limit

double percent(int64_t value) {
  return static_cast<double>(value) / 100;
}

bool isBusy(const BeSample& sample, int64_t thresholdPercent) {
  if (sample.limit.v <= 0) return false;
  if (sample.limit.v < 1000) return true;
  return static_cast<double>(sample.usage.v) / static_cast<double>(sample.limit.v) >=
         percent(thresholdPercent);
}

int64_t missing(const BeSample& sample, int64_t lower, int64_t upper) {
  if (sample.request.v <= 0) return 0;
  const double satisfied =
      static_cast<double>(sample.limit.v) / static_cast<double>(sample.request.v);
  if (satisfied > percent(lower)) return 0;
  const double gap = percent(upper) - satisfied;
  return gap <= 0 ? 0 : static_cast<int64_t>(static_cast<double>(sample.request.v) * gap);
}

int64_t shortOf(const BeHistory& history, int64_t busy, int64_t lower, int64_t upper) {
  const int64_t byAverage = missing(history.avg, lower, upper);
  if (!isBusy(history.avg, busy) || byAverage <= 0 || !isBusy(history.last, busy)) return 0;
  if (history.last.request == history.avg.request && history.last.limit == history.avg.limit)
    return byAverage;
  const int64_t now = missing(history.last, lower, upper);
  return now <= 0 ? 0 : std::min(byAverage, now);
}

// The limit by what the node sells instead of what the kernel grants; false: not known.
bool limitByAllocatable(const api::Node& node, BeHistory& history) {
  const Quantity* sold = node.status.allocatable.find(api::resource::kBatchCpu);
  const int64_t limit = sold ? sold->value() : -1;
  if (limit < 0) return false;
  history.avg.limit = history.last.limit = {std::max<int64_t>(limit, 1)};
  return true;
}

int64_t batchCpuOf(const EvictPod& one) {
  Quantity sum;
  for (const api::Container& container : one.pod->spec->containers)
    sum = sum + container.requests.amount(api::resource::kBatchCpu);
  for (const api::Container& container : one.pod->spec->initContainers)
    if (container.isSidecar) sum = sum + container.requests.amount(api::resource::kBatchCpu);
  return sum.value();
}

EvictAmounts batchCpuFreed(const EvictPod& one) {
  return {{std::string(api::resource::kBatchCpu), batchCpuOf(one)}};
}

double usageOfRequest(const EvictPod& one) {
  const auto request = static_cast<double>(batchCpuOf(one));
  return request > 0 ? one.usedCores.value_or(0) * 1000 / request : 0;
}

std::vector<const EvictPod*> leastSatisfied(std::span<const EvictPod> pods,
                                            std::string_view feature) {
  std::vector<const EvictPod*> out;
  for (const EvictPod& one : pods)
    if (api::rawQos(one.pod->meta.labels) == api::Qos::kBe &&
        api::isEvictableBy(one.pod->meta.annotations, feature))
      out.push_back(&one);
  std::stable_sort(out.begin(), out.end(), [](const EvictPod* a, const EvictPod* b) {
    const auto pa = a->pod->spec->priority, pb = b->pod->spec->priority;
    if (pa && pb && *pa != *pb) return *pa < *pb;
    return usageOfRequest(*a) > usageOfRequest(*b);
  });
  return out;
}

}  // namespace

Duration evictWindow(const api::ResourceThresholdStrategy& slo, Duration interval) {
  return std::max<Duration>(interval,
                            std::chrono::seconds(slo.cpuEvictTimeWindowSeconds.value_or(0)));
}

EvictTask beCpuTask(const EvictInputs& in, const std::optional<BeHistory>& history,
                    Duration interval) {
  EvictTask task{feature::kBeCpu, false, {}, {}, &batchCpuFreed, EvictTask::Target::kRequested};
  const auto& lower = in.slo.cpuEvictBESatisfactionLowerPercent;
  const auto& upper = in.slo.cpuEvictBESatisfactionUpperPercent;
  task.valid = lower && upper && lower->v > 0 && lower->v <= 60 && upper->v > 0 && upper->v < 100 &&
               *upper >= *lower;
  if (!task.valid || !history) return task;
  const auto window =
      std::chrono::duration_cast<std::chrono::seconds>(evictWindow(in.slo, interval));
  const auto step = std::chrono::duration_cast<std::chrono::seconds>(interval);
  if (history->count * step.count() < window.count() / 3) return task;
  BeHistory seen = *history;
  if (in.slo.cpuEvictPolicy == "evictByAllocatable" && !limitByAllocatable(in.node, seen))
    return task;
  const int64_t busy = in.slo.cpuEvictBEUsageThresholdPercent.value_or(Percent{kDefaultBusy}).v;
  const int64_t need = shortOf(seen, busy, lower->v, upper->v);
  if (need <= 0) return task;
  task.release = {{std::string(api::resource::kBatchCpu), need}};
  task.order = leastSatisfied(in.pods, task.feature);
  return task;
}

EvictTask allocatableTask(const EvictInputs& in, std::string_view resource) {
  const bool isCpu = resource == api::resource::kCpu;
  const auto& threshold = isCpu ? in.slo.cpuAllocatableEvictThresholdPercent
                                : in.slo.memoryAllocatableEvictThresholdPercent;
  const auto& lower =
      isCpu ? in.slo.cpuAllocatableEvictLowerPercent : in.slo.memoryAllocatableEvictLowerPercent;
  const auto& priority = in.slo.allocatableEvictPriorityThreshold;
  EvictTask task;
  task.target = EvictTask::Target::kRequested;
  task.feature = isCpu ? feature::kCpuAllocatable : feature::kMemoryAllocatable;
  task.valid = threshold && lower && threshold->v >= 0 && *lower < *threshold && priority &&
               *priority <= kHighestSoldPriority;
  if (!task.valid) return task;
  EvictAmounts asked;
  for (const EvictPod& one : in.pods)
    if (isActivePhase(*one.pod) && api::priorityWithDefault(*one.pod) <= *priority)
      for (const auto& [name, amount] : soldRequests(*one.pod, resource)) asked[name] += amount;
  for (const auto& [name, amount] : asked) {
    const auto request = static_cast<double>(amount);
    const auto sold = static_cast<double>(in.node.status.allocatable.amount(name).value());
    if (sold <= 0)
      task.release[name] = amount;
    else if (request / sold > percent(threshold->v))
      task.release[name] = static_cast<int64_t>(
          isCpu ? request - percent(lower->v) * sold : (request / sold - percent(lower->v)) * sold);
  }
  std::erase_if(task.release, [](const auto& one) { return one.second <= 0; });
  if (task.release.empty()) return task;
  task.order = byPriority(in.pods, task.feature, *priority, [resource](const EvictPod& one) {
    return requestSize(*one.pod, resource);
  });
  task.frees = [resource](const EvictPod& one) { return soldRequests(*one.pod, resource); };
  return task;
}

}  // namespace mangrove::agent
