#pragma once
// How much CPU is left for best-effort work: the threshold's share of the machine less what
// services and the system use. Pure functions, any thread.
//
//   MilliCpu left = suppressBudget(inputs);      // may be negative: everything is taken

#include <cstdint>
#include <optional>

#include "api/koordinator/slo_strategy.h"
#include "api/object/node.h"
#include "api/pod/pod.h"
#include "base/number/units.h"

namespace mangrove::agent {

struct SuppressInputs {
  MilliCpu capacity;
  MilliCpu reserved;  // of the node, see reservedCpu()
  // Cores, last samples.
  double nodeUsed = 0;
  double podsUsed = 0;         // all pods
  double servicePodsUsed = 0;  // those that are not best-effort; unknown pods are not
  double appsUsed = 0;         // all host applications
  double serviceAppsUsed = 0;
  int64_t thresholdPercent = 65;
  std::optional<int64_t> minPercent;
};
MilliCpu suppressBudget(const SuppressInputs& in);

// What the node keeps for itself: the larger of what the kubelet reserves and what the reservation
// annotation says. An annotation that does not parse counts as absent.
MilliCpu reservedCpu(const api::Node& node);

// Best-effort by Koordinator's class or by Kubernetes'.
bool isBestEffort(const api::Pod& pod);
// A host application is best-effort only where the suppression reaches it.
bool isBestEffort(const api::HostApplication& app);

}  // namespace mangrove::agent
