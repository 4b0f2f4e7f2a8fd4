#pragma once
// The series of kube-scheduler and those the reference adds, under their own names, so that
// dashboards keep working. Handles; any thread.

#include <array>
#include <string>
#include <string_view>

#include "base/metrics.h"
#include "base/number/units.h"

namespace mangrove::placement {

struct SchedulerMetrics {
  explicit SchedulerMetrics(Registry& registry);

  CounterFamily& scheduleAttempts;   // result, profile
  HistogramFamily& attemptDuration;  // result, profile
  HistogramFamily& slidingDuration;  // attempts
  Histogram algorithmDuration, podAttempts, evaluatedNodes, feasibleNodes;
  HistogramFamily& extensionPoint;   // extension_point, status, profile
  HistogramFamily& pluginExecution;  // plugin, extension_point, status; of every tenth cycle
  GaugeFamily& pendingPods;          // queue
  CounterFamily& queueIncoming;      // queue, event
  Counter preemptionAttempts;
  Histogram preemptionVictims;
  CounterFamily& schedulingTimeout;  // profile
  GaugeFamily& cacheSize;            // type
  GaugeFamily& unschedulablePods;    // plugin, profile: in the pool now
  HistogramFamily& permitWait;       // result
  Gauge waitingGangGroups;
  Gauge devicesGivenTwice;
  Histogram gangCycle, jobPreemption, wholeGroup, takenByName;
};

enum class Point : uint8_t {
  kPreFilter,
  kFilter,
  kScore,
  kPostFilter,
  kReserve,
  kPermit,
  kPreBind,
  kBind,
};
inline constexpr size_t kPoints = 8;
std::string_view pointName(Point point);

// The handles of one profile, looked up once: finding them by label takes as long as a decision.
class ProfileMetrics {
 public:
  ProfileMetrics(SchedulerMetrics& all, const std::string& profile);

  struct Attempts {
    Counter count;
    Histogram duration;
    void add(Duration took);
  };
  Attempts scheduled, unschedulable, error;
  void took(Point point, bool good, Duration duration);
  void waited(int attempts, Duration sinceQueued);  // until it was scheduled

 private:
  struct Status {
    Histogram good, refused;
  };
  std::array<Status, kPoints> points_;
  std::array<Histogram, 17> byAttempts_;
};

}  // namespace mangrove::placement
