#pragma once
// What to do next with one pod: which containers to start, which to stop, and whether it is over. A
// function of what is wanted, what has happened and the time; called after every change, and again
// at `wakeAt`.
//
//   PodActions next = decide(pod, record, clock.wall());
//   for (auto& name : next.start) …
//
// Pure; doing nothing twice is the caller's part (records say what was asked for already).

#include <optional>
#include <string>
#include <vector>

#include "runtime/core/pod_model.h"

namespace mangrove::runtime {

struct PodActions {
  std::vector<std::string> start;
  std::vector<std::string> stop;  // in this order, each when those before it are gone
  std::vector<std::string> held;  // wait for their back-off
  bool makeSandbox = false;       // namespaces, cgroups, volumes first
  bool over = false;              // nothing runs and nothing will: take down, phase is final
  bool deadlinePassed = false;    // activeDeadlineSeconds
  std::optional<WallTime> wakeAt;
};

PodActions decide(const RunPod& pod, const PodRecord& record, WallTime now);

}  // namespace mangrove::runtime
