#pragma once
// Turns plans into writes: one merge patch per node and only of names we own, when the sync rule
// says that it is worth it and something would change (spec 02 §3.4, M17, M18). Owner thread.

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "manager/controllers/noderesource/node_gauges.h"
#include "manager/controllers/noderesource/node_sync.h"
#include "manager/controllers/noderesource/plan.h"
#include "manager/controllers/noderesource/plugin_counts.h"
#include "manager/desk.h"

namespace mangrove::manager {

class NodeResourceController {
 public:
  // `again` is asked to bring a node back after a while.
  NodeResourceController(Desk& desk, PlanOptions options,
                         std::function<void(std::string_view, Duration)> again);

  void reconcile(const std::string& name, ControlLoop::Done done);
  // Whether a change of a node is nothing but our own write coming back, which no pass need look
  // at.
  bool isEcho(std::string_view name, const api::Node& before, const api::Node& after);
  // The NodeMetric of that node is gone: its next pass counts as the first one.
  void forgetSync(const std::string& name);
  // What was calculated, for the metrics page; may outlive us.
  std::shared_ptr<const NodeGauges> gauges() const { return gauges_; }
  // How a time policy caps a node; asked on each pass.
  using WindowFn = std::function<std::optional<WindowReport>(const api::Node&, const MetricFacts*,
                                                             std::span<const PodFacts* const>)>;
  void useWindows(WindowFn windows) { windows_ = std::move(windows); }

 private:
  struct State {
    std::optional<MonoTime> lastStatusWrite;
    uint64_t told = 0;                   // digest of what users were told last
    std::unique_ptr<NodeMemory> memory;  // null: nothing to remember
  };
  // A write of ours that the cache does not show yet.
  struct Echo {
    std::string planned;       // the version it was made from
    std::string written = {};  // what it became; "": the server has not answered
    std::string seen = {};     // came before the answer, and is ours if the answer says so
    bool isAwaited = false;    // a pass waits for it
  };
  struct Pass;

  NodePlan plan(const api::Node& node, State& state);
  void writeZones(std::shared_ptr<Pass> pass);
  void writeNode(std::shared_ptr<Pass> pass);
  void sendNode(std::shared_ptr<Pass> pass, json::Object patch, bool isStatus);
  bool awaitsEcho(const std::string& name, const api::Node& node);
  void noteWritten(const std::string& name, const std::string& version);
  void onNodeWritten(std::shared_ptr<Pass> pass, Result<client::Reply> reply, bool isStatus);
  void note(const std::string& name, const api::Node& node, const NodePlan& plan);
  void tell(const api::Node& node, const NodePlan& plan, State& state);
  void countChurn(const api::Node& before, const NodeWish& wish);

  Desk& desk_;
  PlanOptions options_;
  std::function<void(std::string_view, Duration)> again_;
  WindowFn windows_;
  std::unordered_map<std::string, State> states_;
  std::unordered_map<std::string, Echo> echoes_;  // few: only of writes under way
  ReconcileCount count_;
  PluginCounts plugins_;
  std::shared_ptr<NodeGauges> gauges_ = std::make_shared<NodeGauges>();
  Counter churnCpu_, churnMemory_;
};

}  // namespace mangrove::manager
