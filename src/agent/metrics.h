#pragma once
// The agent's Prometheus series: the reference's names and labels, and our own about the agent
// itself (mangrove_agent_*). Series with a node label appear once the Node object was seen.
//
//   AgentMetrics metrics(internal, external, "node-1");
//   metrics.tick({.duration = 800us}, look, stats);
//
// Owner thread; the registries may be read by any.

#include <array>
#include <chrono>
#include <map>
#include <string>

#include "agent/collect/collector.h"
#include "agent/look.h"
#include "agent/predict/reclaim.h"
#include "agent/report/reporter.h"
#include "api/object/node.h"
#include "base/metrics.h"

namespace mangrove::agent {

struct TickCost {
  Duration duration{};
  Duration lateness{};
  uint64_t missed = 0;
};

class AgentMetrics {
 public:
  AgentMetrics(Registry& internal, Registry& external, std::string node, WallTime started);

  void nodeSeen(const api::Node& node);
  // Units of container requests and limits by resource, not as the reference mixes them up.
  void useRightUnits() { rightUnits_ = true; }
  void tick(const TickCost& cost, const Look& look, const CollectorStats& stats,
            const ReporterStats& report);
  // The statuses of the NodeMetric as gauges (gate NodeMetricPromMetrics).
  void status(const api::NodeMetricStatus& status);
  void prediction(const Reclaim& reclaim);
  // CPUs that shared and best-effort pods may use; `perCpu`: a series for each as well.
  void pools(const CpuSet& shared, const CpuSet& bestEffort, bool perCpu);
  void capabilities(const kernel::Capabilities& can);
  Counter& clockJumps() { return clockJumps_; }
  Counter& suspensions() { return suspensions_; }
  void stalled(const char* what);

 private:
  void makeSelf(Registry& internal);
  void tickQuantiles();
  void counters(const CollectorStats& stats, const ReporterStats& report);
  void pods(const Look& look);
  void podResources(const Look& look);
  void pressure(const LabelValues& base, GaugeFamily& family, const PressureSet& set);
  void hostApps(const Look& look);
  void yarn(const Look& look);
  void resctrl(const Look& look);
  void podResctrl(const Look& look);
  void devices(const Look& look);
  void waiting(const Look& look);
  void bandwidth(const LabelValues& labels, uint64_t bytes, MonoTime at);

  std::string node_;
  bool seen_ = false, rightUnits_ = false, podCaches_ = false;
  Registry& internal_;
  Registry& external_;
  GaugeFamily& startTime_;
  GaugeFamily& nodeCpu_;
  GaugeFamily& nodeMemory_;
  GaugeFamily& beUsed_;
  GaugeFamily& hostApp_;
  GaugeFamily& allocatable_;
  GaugeFamily& requests_;
  GaugeFamily& limits_;
  GaugeFamily& cpi_;
  GaugeFamily& containerPsi_;
  GaugeFamily& podPsi_;
  GaugeFamily& llc_;
  GaugeFamily& bandwidth_;
  CounterFamily& cpuInfo_;
  CounterFamily& numaInfo_;

  Histogram tickSeconds_, latenessSeconds_;
  Counter missed_, syscalls_, reads_, readFailures_, unreadable_, implausible_, shrunk_;
  Counter reportsSent_, reportsSkipped_, reportsFailed_, reportsEarly_, reportBytes_, wholeBytes_;
  Counter clockJumps_, suspensions_, cut_, closed_;
  Gauge openFiles_, podsGauge_, containersGauge_, historyBytes_;
  CollectorStats lastStats_;
  ReporterStats lastReport_;
  // Memory traffic read last, by cache and class: for rates.
  std::map<std::string, std::pair<uint64_t, MonoTime>> traffic_;
  uint64_t bookVersion_ = ~uint64_t{0};
  MonoTime detailAt_ = MonoTime::min();
  // Durations of the last ten minutes' ticks at most, and their gauges.
  std::array<float, 600> ticks_{};
  uint64_t tickCount_ = 0;
  Gauge tickP50_, tickP99_, tickMax_;
};

}  // namespace mangrove::agent
