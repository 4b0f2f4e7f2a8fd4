#pragma once
// How many replicas one metric asks for, by Kubernetes' rule: as many as bring the average to the
// target, unless it is within the tolerance already.
//
//   Proposal p = replicasFor({.current = 2, .utilization = 50, …}, pods);
//   p.replicas                    4, where both use all of what they ask for
//
// Pods that cannot be counted yet do not decide the direction: who is not measured counts as idle
// when the rest says "more" and as fully busy when it says "fewer"; who is not ready counts as idle
// when the rest says "more". If that turns the direction round, nothing happens. Pure functions.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/pod/pod.h"
#include "base/number/units.h"

namespace mangrove::workloads {

// What is known of one pod of the target, in thousandths of the resource's unit.
struct PodReading {
  enum class State : uint8_t {
    kCounts,
    kUnready,  // starts, or was measured before it was ready
    kIgnored,  // leaves or has failed
  } state = State::kCounts;
  std::optional<int64_t> used;  // nullopt: not measured
  int64_t asked = 0;            // what the pod's containers request
};

struct Question {
  int32_t current = 0;                 // replicas the target is to have now
  std::optional<int32_t> utilization;  // target in percent of what is asked for; or:
  int64_t average = 0;                 // target amount per pod
  double toleranceUp = 0.1;
  double toleranceDown = 0.1;
};

struct Proposal {
  int32_t replicas = 0;
  int32_t utilization = 0;  // measured, in percent; 0 for amounts
  int64_t average = 0;      // measured, per pod
  std::string trouble;      // why nothing can be proposed; "": it can
};
Proposal replicasFor(const Question& question, const std::vector<PodReading>& pods);

// Whether a pod's figure counts. CPU of a pod that starts says nothing about its load: for five
// minutes only what was measured while it was ready counts, and later one that has never been ready
// (its condition moved within half a minute of its start) does not.
PodReading::State stateOf(const api::Pod& pod, bool isCpu, std::optional<WallTime> measuredAt,
                          Duration window, WallTime now);

}  // namespace mangrove::workloads
