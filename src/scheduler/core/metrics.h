#pragma once
// The series of kube-scheduler and those the reference adds, under their own names, so that
// dashboards keep working. Handles; any thread.

#include <string>

#include "base/metrics.h"

namespace mangrove::scheduler {

struct SchedulerMetrics {
  explicit SchedulerMetrics(Registry& registry);

  CounterFamily& scheduleAttempts;   // result, profile
  HistogramFamily& attemptDuration;  // result, profile
  HistogramFamily& slidingDuration;  // attempts
  Histogram algorithmDuration, podAttempts, evaluatedNodes, feasibleNodes;
  HistogramFamily& extensionPoint;  // extension_point, status, profile
  GaugeFamily& pendingPods;         // queue
  CounterFamily& queueIncoming;     // queue, event
  Counter preemptionAttempts;
  Histogram preemptionVictims;
  CounterFamily& schedulingTimeout;  // profile
  GaugeFamily& cacheSize;            // type
  CounterFamily& unschedulableBy;    // plugin, profile
};

}  // namespace mangrove::scheduler
