#include "agent/qos/evict/task.h"

#include <algorithm>
#include <tuple>

#include "agent/qos/evict/released.h"
#include "api/annotations/eviction.h"
#include "api/pod/classes.h"
#include "api/pod/pod_requests.h"
#include "api/wire/names.h"

namespace mangrove::agent {
namespace {

// True when this pod frees something of which there is not enough yet.
bool helps(const EvictAmounts& frees, const EvictAmounts& wanted, const EvictAmounts& released) {
  return std::any_of(frees.begin(), frees.end(), [&](const auto& one) {
    auto want = wanted.find(one.first);
    auto have = released.find(one.first);
    return one.second > 0 && want != wanted.end() &&
           want->second > (have == released.end() ? 0 : have->second);
  });
}

int32_t subPriorityOf(const api::Pod& pod) {
  const int32_t fallback = api::priorityWithDefault(pod);
  if (!pod.meta.labels.has(api::label::kPriority)) return fallback;
  return api::subPriority(pod.meta.labels).value_or(fallback);
}

int64_t requestOf(const api::Pod& pod, std::string_view name) {
  Quantity sum;
  for (const api::Container& one : pod.spec->containers) sum = sum + one.requests.amount(name);
  for (const api::Container& one : pod.spec->initContainers)
    if (one.isSidecar) sum = sum + one.requests.amount(name);
  return sum.value();
}

bool isSold(api::PriorityBand band) {
  return band == api::PriorityBand::kMid || band == api::PriorityBand::kBatch;
}

}  // namespace

bool isActivePhase(const api::Pod& pod) {
  return pod.status.phase == api::PodPhase::kPending || pod.status.phase == api::PodPhase::kRunning;
}

std::vector<Victim> pickVictims(std::span<const EvictTask> tasks) {
  std::vector<Victim> victims;
  Released released(tasks);
  for (const EvictTask& task : tasks) {
    if (!task.valid || task.release.empty()) continue;
    for (const EvictPod* one : task.order) {
      if (released.missing(task).empty()) break;
      if (released.has(*one)) continue;
      if (!helps(task.frees(*one), task.release, released.of(task.target))) continue;
      released.add(*one);
      if (!one->leaving) victims.push_back({one, &task, {}});
    }
  }
  return victims;
}

std::vector<const EvictPod*> pickVictims(const EvictTask& task) {
  std::vector<const EvictPod*> out;
  for (const Victim& victim : pickVictims(std::span(&task, 1))) out.push_back(victim.pod);
  return out;
}

std::vector<const EvictPod*> byPriority(std::span<const EvictPod> pods, std::string_view feature,
                                        int32_t priorityThreshold,
                                        const std::function<double(const EvictPod&)>& size) {
  struct Ranked {
    const EvictPod* pod;
    std::tuple<int32_t, int32_t, int32_t, double> rank;
  };
  std::vector<Ranked> ranked;
  for (const EvictPod& one : pods) {
    const api::Pod& pod = *one.pod;
    if (!isActivePhase(pod) || !api::isEvictableBy(pod.meta.annotations, feature)) continue;
    if (!api::isEvictionEnabled(pod.meta.labels)) continue;
    if (api::priorityWithDefault(pod) > priorityThreshold) continue;
    if (!one.usedCores && !one.memory) continue;
    ranked.push_back({&one,
                      {api::parseEvictionPriority(pod.meta.annotations).value_or(0),
                       api::priorityWithDefault(pod), subPriorityOf(pod), -size(one)}});
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Ranked& a, const Ranked& b) { return a.rank < b.rank; });
  std::vector<const EvictPod*> out;
  for (const Ranked& one : ranked) out.push_back(one.pod);
  return out;
}

EvictAmounts soldRequests(const api::Pod& pod, std::string_view resource) {
  const api::PriorityBand band = api::bandWithDefault(pod);
  if (!isSold(band)) return {};
  const std::string_view name = api::translated(resource, band);
  const int64_t amount = requestOf(pod, name);
  if (amount == 0) return {};
  return {{std::string(name), amount}};
}

double requestSize(const api::Pod& pod, std::string_view resource) {
  const api::PriorityBand band = api::bandWithDefault(pod);
  if (isSold(band)) return static_cast<double>(requestOf(pod, api::translated(resource, band)));
  const api::ResourceList all = api::podRequests(pod);
  return static_cast<double>(resource == api::resource::kCpu ? all.cpu().v : all.memory().v);
}

}  // namespace mangrove::agent
