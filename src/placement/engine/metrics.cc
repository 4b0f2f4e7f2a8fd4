#include "placement/engine/metrics.h"

#include <algorithm>

namespace mangrove::placement {

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
      pluginExecution(
          r.histograms("scheduler_plugin_execution_duration_seconds",
                       "Time of one plugin at one extension point, in every tenth cycle.",
                       {"plugin", "extension_point", "status"}, powers(0.00001, 1.5, 20))),
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
      unschedulablePods(r.gauges("scheduler_unschedulable_pods",
                                 "Pods that wait because a plugin refused them.",
                                 {"plugin", "profile"})),
      permitWait(r.histograms("scheduler_permit_wait_duration_seconds",
                              "Time a pod with a node waited for permission.", {"result"},
                              powers(0.001, 2, 15))),
      waitingGangGroups(r.gauge("scheduler_waiting_gang_group_number",
                                "Groups of gangs with members that wait for the others.")),
      devicesGivenTwice(r.gauge("mangrove_scheduler_devices_given_twice",
                                "Cards that pods have more of than there is: two schedulers, or "
                                "somebody else, wrote it.")),
      gangCycle(r.histogram("scheduler_gang_schedule_cycle_duration_seconds",
                            "Time of deciding a whole group.", powers(0.00001, 2, 24))),
      jobPreemption(r.histogram("scheduler_job_preemption_duration_seconds",
                                "Time of looking for victims for a whole group.",
                                powers(0.00001, 2, 24))),
      wholeGroup(r.histogram("scheduler_inline_batch_schedule_duration_seconds",
                             "Time of placing all members of a group in one transaction.",
                             powers(0.00001, 2, 24))),
      takenByName(r.histogram("scheduler_next_pod_delete_from_queue_latency",
                              "Time of taking the member that is next out of the queue.",
                              powers(0.000001, 2, 24))) {}

namespace {

constexpr std::array<const char*, kPoints> kPointNames = {
    "PreFilter", "Filter", "Score", "PostFilter", "Reserve", "Permit", "PreBind", "Bind"};

double secondsOf(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

std::string_view pointName(Point point) {
  return kPointNames[static_cast<size_t>(point)];
}

ProfileMetrics::ProfileMetrics(SchedulerMetrics& all, const std::string& profile) {
  const auto attempts = [&](const char* result) {
    return Attempts{all.scheduleAttempts.with({result, profile}),
                    all.attemptDuration.with({result, profile})};
  };
  scheduled = attempts("scheduled");
  unschedulable = attempts("unschedulable");
  error = attempts("error");
  for (size_t i = 0; i < kPoints; i++)
    points_[i] = {all.extensionPoint.with({kPointNames[i], "Success", profile}),
                  all.extensionPoint.with({kPointNames[i], "Unschedulable", profile})};
  for (size_t i = 1; i < byAttempts_.size(); i++)
    byAttempts_[i] = all.slidingDuration.with({std::to_string(i)});
}

void ProfileMetrics::Attempts::add(Duration took) {
  count.inc();
  duration.observe(secondsOf(took));
}

void ProfileMetrics::took(Point point, bool good, Duration duration) {
  Status& status = points_[static_cast<size_t>(point)];
  (good ? status.good : status.refused).observe(secondsOf(duration));
}

void ProfileMetrics::waited(int attempts, Duration sinceQueued) {
  byAttempts_[static_cast<size_t>(std::clamp(attempts, 1, 16))].observe(secondsOf(sinceQueued));
}

}  // namespace mangrove::placement
