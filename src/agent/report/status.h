#pragma once
// The NodeMetric status of this moment, from history alone: averages over the window, percentiles
// over the policy's durations, pods sorted by namespace and name.
//
//   api::NodeMetricStatus status = buildStatus({look, policy, predicted});
//
// Owner thread (history is read). No I/O.

#include <optional>

#include "agent/look.h"
#include "agent/report/policy.h"
#include "api/koordinator/node_metric.h"

namespace mangrove::agent {

// What prediction says; nullopt where it cannot.
struct Predicted {
  std::optional<api::ResourceList> reclaimable;
  std::optional<api::ResourceList> peak;
};

struct StatusInputs {
  const Look& look;
  const ReportPolicy& policy;
  const Predicted& predicted;
};
api::NodeMetricStatus buildStatus(const StatusInputs& inputs);

// cpu = trunc(cores × 1000) milli, memory = trunc(bytes); NaN and negative are 0.
api::ResourceList resourcesOf(double cores, double bytes);

}  // namespace mangrove::agent
