#pragma once
// From what a tick saw to what the suppression formulas take. Pure functions, any thread.

#include <optional>

#include "agent/qos/cpu_suppress/budget.h"
#include "agent/qos/cpu_suppress/pick.h"
#include "agent/qos/strategy.h"

namespace mangrove::agent {

// Whether the kubelet itself binds CPUs; false while the topology object is not known.
bool kubeletIsStatic(const api::Annotations* topology);

// nullopt: the node's usage or the node itself is not known, or no pod is.
std::optional<SuppressInputs> suppressInputs(const Situation& now,
                                             const api::ResourceThresholdStrategy& slo);

// Machine, bound, reserved and system CPUs; `present` and `budget` are the caller's.
SuppressCpus suppressCandidates(const Situation& now);

}  // namespace mangrove::agent
