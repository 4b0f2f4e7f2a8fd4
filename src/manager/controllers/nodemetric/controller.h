#pragma once
// Keeps a NodeMetric object for every node and tells the agent by its spec how to measure. Owner
// thread.

#include <string>
#include <string_view>

#include "api/koordinator/node_metric.h"
#include "manager/controller.h"
#include "manager/controllers/node_companion.h"

namespace mangrove::manager {

// What the spec of a node's NodeMetric should be: the node's strategy when it is enabled and in
// range, the built-in policy otherwise. Pure.
api::NodeMetricSpec metricSpecFor(const SloConfig& config, const api::ObjectMeta& node);

struct NodeMetricOptions {
  // How long readers trust a report; zero: nothing is said, and all readers have their own 180 s.
  Duration validity{};
};
// What a node's NodeMetric says of it: never so long that the manager itself would call the report too
// old to sell by. Whole seconds. Pure.
Duration validityFor(Duration wanted, const SloConfig& config, const api::ObjectMeta& node);

class NodeMetricController final : public Controller {
 public:
  explicit NodeMetricController(const ControllerSetup& setup);
  void start() override;
  void reconcile(const std::string& name, ControlLoop::Done done) override;
  void each(const Visit& visit) const override;

 private:
  std::string saleRuleFor(const api::Node& node, const MetricSeen& metric) const;

  Desk& desk_;
  ControlLoop& keys_;
  NodeCompanion companion_;
  NodeMetricOptions options_;
};

}  // namespace mangrove::manager
