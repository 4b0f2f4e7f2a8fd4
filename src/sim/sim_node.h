#pragma once
// One simulated machine: its pods, who gets what, the agent's decisions on it and what the manager
// sells of it. A step touches nothing but the node, so that nodes can be stepped on many threads.
//
//   SimNode node(policy, object, context);
//   node.add(pod);
//   StepReport report = node.step(at);              // who ended and how; what others hear of it
//
// One owner at a time.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/qos/cpu_suppress/budget.h"
#include "agent/qos/evict/task.h"
#include "api/koordinator/node_metric.h"
#include "sim/batch_limit.h"
#include "sim/forecast.h"
#include "sim/seller.h"
#include "sim/sums.h"
#include "sim/trace.h"

namespace mangrove::sim {

// The mean of the last steps, as the agent reports it.
class UseWindow {
 public:
  explicit UseWindow(size_t size = 1) : values_(size) {}
  void add(double value);
  double mean() const { return count_ == 0 ? 0 : sum() / static_cast<double>(count_); }

 private:
  double sum() const;
  std::vector<float> values_;
  size_t count_ = 0, next_ = 0;
};

struct SimPod {
  size_t number = 0;
  std::shared_ptr<const api::Pod> object;
  bool isTask = false;
  MilliCpu cpu;
  Bytes memory;
  double memoryUse = 1;
  double cpuUse = 1;   // of a task: share of its request that it wants
  Seconds starts = 0;  // runs from then on
  // Of a replica.
  const Curve* curve = nullptr;
  const std::vector<float>* peaks = nullptr;  // of the curve, ahead; null: nobody sees ahead
  double noise = 0;
  uint64_t chance = 0;  // names it in the noise
  // Of a task, in core-seconds.
  double left = 0, unsaved = 0, saveEvery = 0;

  // What the step before found out.
  double wants = 0, got = 0;
  int64_t bytes = 0;
  UseWindow window;
  manager::PodFacts facts;
};

struct Ended {
  enum class How : uint8_t { kFinished, kEvicted, kKilled } how;
  SimPod pod;
};

struct StepReport {
  std::vector<Ended> ended;
  Sums sums;
  std::shared_ptr<const api::Node> before;        // null: the node is as it was
  std::shared_ptr<const api::NodeMetric> metric;  // null: not worth a report
};

// What is the same for all nodes.
struct NodeContext {
  const Trace& trace;
  const Policy& policy;
  uint64_t seed = 1;
  Stepping stepping = Stepping::kAdaptive;
  WallTime start{};
};

class SimNode {
 public:
  SimNode(std::shared_ptr<const api::Node> object, const NodeGroup& group,
          const NodeContext& context);

  void add(SimPod pod);
  std::optional<SimPod> remove(size_t number);
  std::vector<SimPod> removeAll();
  StepReport step(Seconds at);

  const std::shared_ptr<const api::Node>& object() const { return seller_.node(); }
  const std::vector<SimPod>& pods() const { return pods_; }
  uint64_t ticks() const { return limit_.ticks(); }

 private:
  struct Load {
    double services = 0, batch = 0;  // cores wanted
    int64_t bytes = 0;
    MilliCpu batchRequest;
  };
  void want(Seconds at);
  Load load() const;
  void divide(Seconds at, const Load& load);
  agent::SuppressInputs suppressInputs(const Load& load) const;
  template <class Is>
  void shareByWeight(Is is, double cores);
  void count(const Load& load, Sums& sums) const;
  void work(StepReport& report);
  void evict(const Load& load, StepReport& report);
  void killForMemory(StepReport& report);
  void end(std::vector<size_t> indices, Ended::How how, StepReport& report);
  std::vector<agent::EvictPod> evictPods() const;
  void learn(WallTime now);
  void sell(Seconds at, StepReport& report);
  manager::MetricFacts facts(Seconds at) const;
  double reportedCores(const SimPod& pod, Seconds at) const;
  void report(Seconds at, StepReport& report);
  double usedCores() const;
  int64_t usedBytes() const;
  Seconds step() const { return context_.trace.step; }
  WallTime wall(Seconds at) const { return context_.start + std::chrono::seconds(at); }

  const NodeContext& context_;
  api::ResourceThresholdStrategy threshold_;
  double capacity_, systemMean_, system_;
  const Curve* systemCurve_;  // null: it uses the same all the time
  int64_t memory_, systemMemory_;
  MilliCpu reserved_;
  BatchLimit limit_;
  Seller seller_;
  PeakBook book_;
  std::vector<SimPod> pods_;  // by facts.key
  double limitMean_ = 0;
  double reportedUse_ = -1;
  Seconds reportedAt_ = 0;
};

}  // namespace mangrove::sim
