#include "scheduler/core/metrics.h"

namespace mangrove::scheduler {

namespace {

std::vector<double> powers(double first, double factor, int count) {
  std::vector<double> out;
  for (int i = 0; i < count; i++, first *= factor) out.push_back(first);
  return out;
}

}  // namespace

SchedulerMetrics::SchedulerMetrics(Registry& r)
    : scheduleAttempts(r.counters("scheduler_schedule_attempts_total",
                                  "Attempts to schedule pods, by the result.",
                                  {"result", "profile"})),
      attemptDuration(r.histograms("scheduler_scheduling_attempt_duration_seconds",
                                   "Time of one attempt, decision and binding.",
                                   {"result", "profile"}, powers(0.00001, 2, 24))),
      slidingDuration(r.histograms("scheduler_pod_scheduling_sli_duration_seconds",
                                   "Time from entering the queue to being scheduled.", {"attempts"},
                                   powers(0.01, 2, 20))),
      algorithmDuration(r.histogram("scheduler_scheduling_algorithm_duration_seconds",
                                    "Time of choosing a node.", powers(0.000001, 2, 24))),
      podAttempts(r.histogram("scheduler_pod_scheduling_attempts",
                              "Attempts a pod took until it was scheduled.", powers(1, 2, 5))),
      evaluatedNodes(r.histogram("scheduler_pod_scheduling_evaluated_nodes",
                                 "Nodes looked at for a scheduled pod.", powers(1, 2, 24))),
      feasibleNodes(r.histogram("scheduler_pod_scheduling_feasible_nodes",
                                "Nodes that could have taken a scheduled pod.", powers(1, 2, 24))),
      extensionPoint(r.histograms("scheduler_framework_extension_point_duration_seconds",
                                  "Time of all plugins of an extension point.",
                                  {"extension_point", "status", "profile"},
                                  powers(0.000001, 2, 24))),
      pendingPods(r.gauges("scheduler_pending_pods", "Pods without a node, by queue.", {"queue"})),
      queueIncoming(r.counters("scheduler_queue_incoming_pods_total",
                               "Pods added to a queue, by event and queue.", {"queue", "event"})),
      preemptionAttempts(
          r.counter("scheduler_preemption_attempts_total", "Preemption attempts until now.")),
      preemptionVictims(
          r.histogram("scheduler_preemption_victims", "Victims of a preemption.", powers(1, 2, 7))),
      schedulingTimeout(r.counters("scheduler_scheduling_timeout",
                                   "Cycles that took longer than --scheduling-timeout.",
                                   {"profile"})),
      cacheSize(
          r.gauges("scheduler_cache_size", "Nodes, pods and assumed pods in the cache.", {"type"})),
      unschedulableBy(r.counters("scheduler_unschedulable_pods_total", "Refusals by plugin.",
                                 {"plugin", "profile"})) {}

}  // namespace mangrove::scheduler
