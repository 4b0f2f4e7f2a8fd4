#include "manager/controllers/nodemetric/controller.h"

#include "json/value.h"
#include "manager/config/node_strategy.h"
#include "manager/controllers/list.h"

namespace mangrove::manager {
api::NodeMetricSpec metricSpecFor(const SloConfig& config, const api::ObjectMeta& node) {
  const auto chosen = colocationFor(config.colocation.config, node);
  const bool use = chosen.inRange && chosen.strategy.enable.value_or(false);
  const Colocation s = use ? chosen.strategy : builtIn<Colocation>();
  api::MetricCollectPolicy policy;
  policy.aggregateDurationSeconds = s.metricAggregateDurationSeconds;
  policy.reportIntervalSeconds = s.metricReportIntervalSeconds;
  if (s.metricAggregatePolicy)
    policy.nodeAggregatePolicy =
        api::MetricCollectPolicy::Aggregate{s.metricAggregatePolicy->durations};
  policy.nodeMemoryCollectPolicy = s.metricMemoryCollectPolicy;
  return {policy};
}

NodeMetricController::NodeMetricController(const ControllerSetup& setup)
    : desk_(setup.desk),
      keys_(setup.keys),
      companion_(setup.desk, client::kind::kNodeMetric, "nodemetric") {}

void NodeMetricController::start() {
  addNodesWithNews(desk_.caches, keys_);
  desk_.caches.metrics.onChange([this](const client::Change<MetricSeen>& change) {
    if (!change.before || !change.after || change.before->specDigest != change.after->specDigest)
      keys_.add(change.key);
  });
}

// With objects whose node went away while nobody led.
void NodeMetricController::each(const Visit& visit) const {
  desk_.caches.nodes.each([&](std::string_view key, const api::Node&) { visit(key); });
  desk_.caches.metrics.each([&](std::string_view key, const MetricSeen&) { visit(key); });
}

void NodeMetricController::reconcile(const std::string& name, ControlLoop::Done done) {
  const auto node = desk_.caches.nodes.find(name);
  const auto metric = desk_.caches.metrics.find(name);
  if (!node && !metric) return done({});
  if (!node) return companion_.remove(name, std::move(done));
  if (!desk_.config->colocation.available) return done({});
  const auto spec = metricSpecFor(*desk_.config, node->meta);
  companion_.parsed().good();
  if (metric && desk_.config->errorStatus()) return companion_.leave(std::move(done));
  companion_.ensure(name, metric ? std::optional(metric->specDigest) : std::nullopt, toJson(spec),
                    std::move(done));
}

ControllerInfo controllers::nodemetric() {
  return {.name = "nodemetric",
          .make = makeController<NodeMetricController>,
          .access = {{client::kind::kNode, kFollow},
                     {client::kind::kNodeMetric, "list watch create patch delete"}},
          .after = "noderesource"};
}

}  // namespace mangrove::manager
