#pragma once
// Applies ColocationTimePolicies: tells the node-resource controller how much the hour allows,
// keeps new batch pods away while a node drains, tells the pods there when their time may end, and
// evicts what is too much when a stricter time begins. Owner thread.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "client/informer/informer.h"
#include "manager/controller.h"
#include "manager/controllers/timepolicy/leaving.h"
#include "manager/controllers/timepolicy/policy.h"
#include "stakes/tally.h"

namespace mangrove::manager {

// What services use on a node: all usage without that of batch and free pods. Nullopt when the
// node's usage was not reported.
std::optional<CpuMemory> onlineUsage(const MetricFacts* metric);
// What is placed under any name.
CpuMemory allocatedBy(std::span<const PodFacts* const> pods);

class TimePolicyController final : public Controller {
 public:
  explicit TimePolicyController(const ControllerSetup& setup);

  void start() override;
  // Nothing may be sold before the policies are known.
  std::string waitingFor() const override;
  // Tells of policies that cannot be used, which only the leader does.
  void lead() override;
  void each(const Visit& visit) const override;
  void reconcile(const std::string& name, ControlLoop::Done done) override;

  // What the hour allows on a node; nullopt when no policy selects it. Nothing is allowed where
  // nothing is known of the node.
  std::optional<WindowReport> report(const api::Node& node, const MetricFacts* metric,
                                     std::span<const PodFacts* const> pods);
  // A report has come. Remembered by all replicas, so that a new leader has the last three.
  void noteReport(std::string_view node, const MetricFacts& metric);

 private:
  struct NodeState {
    std::array<CpuMemory, 3> online;  // the last reports; the largest counts
    WallTime lastReport = kZeroTime;
    size_t next = 0;
    std::optional<double> factor;     // of the last pass, to notice when it becomes stricter
    std::optional<WallTime> cleared;  // the closing after which the node was cleared
  };
  // One look at one node: what is sent meanwhile is answered before the taint is set.
  struct Pass {
    std::string name;
    std::string why;
    CpuMemory allowed;
    std::optional<WallTime> closedAt;
    bool taint = false;
    bool waits = false;  // for checkpoints
    size_t underWay = 0;
    Result<> outcome;
    ControlLoop::Done done;
  };
  struct PodName {
    std::string_view ns, name;
  };

  void onPolicy(const client::Change<TimePolicy>& change);
  void onNode(const client::Change<api::Node>& change);
  void onPod(const client::Change<PodSeen>& change);
  void lookAt(std::string_view node);
  const CompiledPolicy* policyOf(const api::Labels& node) const;
  void lookAtAll();
  void arm();
  std::optional<CpuMemory> largestOnline(NodeState& state, const MetricFacts* metric);
  std::optional<CpuMemory> allowedOn(const CompiledPolicy& policy, const WindowVerdict& verdict,
                                     const api::Node& node, const MetricFacts* metric,
                                     std::span<const PodFacts* const> pods);
  void refuse(const TimePolicy& policy, const Error& why) const;
  void tellOverlap(const api::Node& node, const CompiledPolicy& first);
  std::vector<Holder> holdersOn(const std::string& node) const;
  bool mustClear(const WindowVerdict& verdict, NodeState& state) const;
  void clear(std::shared_ptr<Pass> pass);
  void evictNow(const PodName& pod, std::shared_ptr<Pass> pass, const std::string& why);
  void clearByLoss(std::shared_ptr<Pass> pass);
  void sendAway(const std::vector<api::Pod>& pods, const std::shared_ptr<Pass>& pass);
  bool hasSaved(const api::Pod& pod, const std::shared_ptr<Pass>& pass);
  void waitForCheckpoints(const std::string& node);
  void settle(std::shared_ptr<Pass> pass);
  void tellPods(const std::string& node, const CompiledPolicy& policy,
                const WindowVerdict& verdict);
  void tell(const Holder& pod, const CompiledPolicy& policy, WallTime closesAt);
  void setTaint(const api::Node& node, bool wanted, ControlLoop::Done done);

  Desk& desk_;
  ControlLoop& keys_;
  client::Informer<TimePolicy> policies_;
  std::map<std::string, CompiledPolicy, std::less<>> compiled_;  // by name: the first that matches
  std::map<std::string, NodeState, std::less<>> states_;
  std::set<std::string> overlapsTold_;  // "first second"
  const bool byLoss_, savesFirst_;      // gates
  stakes::EvictionTally tally_;         // of what we evicted ourselves
  Timer timer_;
  Counter evictions_;
  Lifetime life_;
};

}  // namespace mangrove::manager
