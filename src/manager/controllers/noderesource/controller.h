#pragma once
// Turns plans into writes: one merge patch per node and only of names we own, when the sync rule
// says that it is worth it and something would change. Owner thread.

#include <memory>
#include <string>
#include <unordered_map>

#include "manager/controller.h"
#include "manager/controllers/noderesource/node_sync.h"
#include "manager/controllers/noderesource/plan.h"
#include "manager/controllers/noderesource/plugin_counts.h"

namespace mangrove::manager {

class NodeResourceController final : public Controller {
 public:
  explicit NodeResourceController(const ControllerSetup& setup);

  void start() override;
  void reconcile(const std::string& name, ControlLoop::Done done) override;
  void each(const Visit& visit) const override;

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

  void onNode(const client::Change<api::Node>& change);
  void onMetric(const client::Change<MetricSeen>& change);
  void onPod(const client::Change<PodSeen>& change);
  void onRoom(const client::Change<RoomSeen>& change);
  void again(std::string_view name, Duration after) { keys_.addAfter(name, after); }
  bool hasViews(std::string_view name) const;
  // Whether a change of a node is nothing but our own write coming back, which no pass need look
  // at.
  bool isEcho(std::string_view name, const api::Node& before, const api::Node& after);
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
  ControlLoop& keys_;
  PlanOptions options_;
  std::unordered_map<std::string, State> states_;
  std::unordered_map<std::string, Echo> echoes_;  // few: only of writes under way
  ReconcileCount count_;
  PluginCounts plugins_;
  Counter churnCpu_, churnMemory_;
};

}  // namespace mangrove::manager
