#pragma once
// Whether a new NodeMetric status says something that the one sent last did not. A PATCH costs the
// API server 7-10 ms of CPU, so noise is not sent; what any reader would act on is.
//
//   if (worthSending(sent, now, capacity)) …
//   json::Value patch = statusPatch(sent, now);        // only the parts that differ
//
// Pure, any thread.

#include "api/koordinator/node_metric.h"
#include "base/number/units.h"
#include "json/value.h"

namespace mangrove::agent {

// What counts as the same. Node figures are compared with the node's size: readers turn them into
// percentages of it (LoadAware thresholds, reclaim ratios with a 10 % difference threshold).
// Smaller things are compared with themselves.
struct Tolerance {
  double nodeShare = 0.01;  // of the capacity
  double ownShare = 0.05;   // of the value sent last
  MilliCpu cpuFloor{20};    // below both of these a difference means nothing
  Bytes memoryFloor = kMiB * 16;
};
struct NodeSize {
  MilliCpu cpu;
  Bytes memory;
};

bool worthSending(const api::NodeMetricStatus& sent, const api::NodeMetricStatus& now,
                  const NodeSize& size, const Tolerance& tolerance = {});

// `now`, but with the pods and host applications that were sent where all of them are the same: a
// merge patch replaces whole lists, and a list of pods is nearly all of a status.
api::NodeMetricStatus withoutNoise(const api::NodeMetricStatus& sent, api::NodeMetricStatus now,
                                   const NodeSize& size, const Tolerance& tolerance = {});

// A merge patch {"status": {…}} of the members that differ, null for what is gone.
json::Value statusPatch(const api::NodeMetricStatus& sent, const api::NodeMetricStatus& now);

}  // namespace mangrove::agent
