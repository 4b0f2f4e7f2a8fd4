#pragma once
// What is released so far, by what counts: what a victim of one task releases counts for the others
// as well, so that nobody goes for what another one's leaving brings.
//
//   Released released(tasks);                // who leaves already counts from the beginning
//   released.add(pod);
//   released.missing(task)                   // empty: the task has what it wants
//
// Refers to the tasks; one thread.

#include <map>
#include <set>
#include <span>

#include "agent/qos/evict/task.h"

namespace mangrove::agent {

class Released {
 public:
  explicit Released(std::span<const EvictTask> tasks);

  // Of each target the most that any task sees in the pod: tasks look at the same thing.
  void add(const EvictPod& pod);
  const EvictAmounts& of(EvictTask::Target target) { return by_[target]; }
  bool has(const EvictPod& pod) const { return counted_.count(pod.pod) != 0; }
  // What the task still wants, name by name, each above zero.
  EvictAmounts missing(const EvictTask& task);

 private:
  std::span<const EvictTask> tasks_;
  std::map<EvictTask::Target, EvictAmounts> by_;
  std::set<const api::Pod*> counted_;
};

}  // namespace mangrove::agent
