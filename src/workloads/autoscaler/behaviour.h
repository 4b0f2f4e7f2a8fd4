#pragma once
// How fast a proposal may be followed: windows in which the most careful proposal wins, and how many
// pods may come or go in a period. Kubernetes' defaults: up by 4 pods or by 100 %, whichever is more,
// in 15 s; down at once, to the highest proposal of the last five minutes.
//
//   Bounded b = bounded(scaler, 2, 40, history, now);
//   b.replicas; b.limited                    6, "ScaleUpLimit"
//
// Pure functions; History is the caller's memory of one autoscaler.

#include <string>
#include <vector>

#include "base/number/units.h"
#include "workloads/autoscaler/objects.h"

namespace mangrove::workloads {

struct History {
  struct Said {
    WallTime at{};
    int32_t replicas = 0;
  };
  struct Done {
    WallTime at{};
    int32_t change = 0;  // pods that came or, negative, went
  };
  std::vector<Said> proposals;
  std::vector<Done> changes;
  // What lies outside of every window counts no more.
  void forget(const Autoscaler& scaler, WallTime now);
};

struct Bounded {
  int32_t replicas = 0;
  std::string limited;  // reason of the condition ScalingLimited; "": not limited
  std::string message;
  int32_t heldBy = 0;  // an earlier proposal won: so many pods more, or fewer, than proposed now
};
// Notes the proposal in the history.
Bounded bounded(const Autoscaler& scaler, int32_t current, int32_t proposed, History& history,
                WallTime now);

ScaleRules upRules(const Autoscaler& scaler);  // completed with the defaults
ScaleRules downRules(const Autoscaler& scaler);

}  // namespace mangrove::workloads
