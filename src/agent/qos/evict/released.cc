#include "agent/qos/evict/released.h"

#include <algorithm>

namespace mangrove::agent {

// Who leaves, for whatever reason and wherever in the order, is not waited for twice.
Released::Released(std::span<const EvictTask> tasks) : tasks_(tasks) {
  for (const EvictTask& task : tasks)
    for (const EvictPod& one : task.pods)
      if (one.leaving) add(one);
}

void Released::add(const EvictPod& pod) {
  if (!counted_.insert(pod.pod).second) return;
  std::map<EvictTask::Target, EvictAmounts> most;
  for (const EvictTask& task : tasks_) {
    if (!task.valid || !task.frees) continue;
    for (const auto& [name, amount] : task.frees(pod)) {
      int64_t& known = most[task.target][name];
      known = std::max(known, amount);
    }
  }
  for (const auto& [target, amounts] : most)
    for (const auto& [name, amount] : amounts) by_[target][name] += amount;
}

EvictAmounts Released::missing(const EvictTask& task) {
  EvictAmounts out;
  const EvictAmounts& have = by_[task.target];
  for (const auto& [name, wanted] : task.release) {
    const auto found = have.find(name);
    const int64_t released = found == have.end() ? 0 : found->second;
    if (wanted > released) out[name] = wanted - released;
  }
  return out;
}

}  // namespace mangrove::agent
