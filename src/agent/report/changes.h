#pragma once
// Whether anybody would decide something else by a new NodeMetric status than by the one sent last. A
// PATCH costs the API server 7-10 ms of CPU, so numbers that move are not sent; what changes a decision
// is. Who decides:
//
//   the manager sells capacity less the system's usage, less the sum of what prod, mid and unlabelled
//   pods use, and a share of what is predicted reclaimable: sums, within 0.4 % of the node
//   the scheduler and the descheduler judge the node's usage, its percentiles and the sum of prod pods
//   in percent of the node: within 1 %; who is there, and of which class: exactly
//   whoever picks a pod by its usage: a pod that moved by a twentieth of itself and 2 % of the node
//
// Single pods that move against each other change none of it.
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
  double nodeShare = 0.01;   // of the capacity
  double soldShare = 0.004;  // of the capacity: what amounts for sale are computed from
  double podShare = 0.02;    // of the capacity: a single pod's
  double ownShare = 0.05;    // of the value sent last
  MilliCpu cpuFloor{20};     // below both of these a difference means nothing
  Bytes memoryFloor = kMiB * 16;
};
struct NodeSize {
  MilliCpu cpu;
  Bytes memory;
};

bool worthSending(const api::NodeMetricStatus& sent, const api::NodeMetricStatus& now,
                  const NodeSize& size, const Tolerance& tolerance = {});

// `now`, but with the pods and host applications that were sent where nobody would decide anything by
// the difference: a merge patch replaces whole lists, and a list of pods is nearly all of a status.
api::NodeMetricStatus withoutNoise(const api::NodeMetricStatus& sent, api::NodeMetricStatus now,
                                   const NodeSize& size, const Tolerance& tolerance = {});

// A merge patch {"status": {…}} of the members that differ, null for what is gone.
json::Value statusPatch(const api::NodeMetricStatus& sent, const api::NodeMetricStatus& now);

}  // namespace mangrove::agent
