#include "manager/controllers/nodemetric/controller.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/annotations/report_validity.h"
#include "api/annotations/sale_rule.h"
#include "json/value.h"
#include "manager/config/node_strategy.h"
#include "manager/controllers/list.h"
#include "manager/controllers/noderesource/node_sync.h"

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

Duration validityFor(Duration wanted, const SloConfig& config, const api::ObjectMeta& node) {
  constexpr Duration kToWriteAnew = std::chrono::minutes(2);
  const auto chosen = colocationFor(config.colocation.config, node);
  const Duration degrades = std::chrono::minutes(chosen.strategy.degradeTimeMinutes.value_or(15));
  const Duration held = std::min(wanted, std::max(degrades - kToWriteAnew, Duration::zero()));
  return std::chrono::duration_cast<std::chrono::seconds>(held);
}

namespace {

void declareFlags(frame::Flags& flags, OwnOptions& own) {
  flags.add(
      "report-validity", own.of<NodeMetricOptions>().validity,
      "how long every reader of NodeMetrics trusts a report; agents then write what changes a "
      "decision, and everything every ten minutes. Only where scheduler and descheduler are "
      "ours; 0: readers expect a report every 180 s");
}

Result<> checkFlags(const OwnOptions& own) {
  const Duration validity = own.get<NodeMetricOptions>().validity;
  if (validity == Duration::zero()) return {};
  if (validity < std::chrono::minutes(3) || validity > std::chrono::hours(1))
    return invalid("--report-validity {} s: want 0, or 3m to 1h",
                   std::chrono::duration_cast<std::chrono::seconds>(validity).count());
  return {};
}

// nullopt: nothing is said.
std::optional<std::string> textOf(Duration validity) {
  if (validity == Duration::zero()) return std::nullopt;
  return fmt::format("{}s", std::chrono::duration_cast<std::chrono::seconds>(validity).count());
}

}  // namespace

NodeMetricController::NodeMetricController(const ControllerSetup& setup)
    : desk_(setup.desk),
      keys_(setup.keys),
      companion_(setup.desk, client::kind::kNodeMetric, "nodemetric"),
      options_(setup.options.own.get<NodeMetricOptions>()) {}

void NodeMetricController::start() {
  addNodesWithNews(desk_.caches, keys_);
  desk_.caches.metrics.onChange([this](const client::Change<MetricSeen>& change) {
    if (!change.before || !change.after || change.before->specDigest != change.after->specDigest ||
        change.before->validity != change.after->validity ||
        change.before->saleRule != change.after->saleRule)
      keys_.add(change.key);
  });
  // Under a time policy amounts are written by another rule.
  desk_.windows.changed = [this, tell = std::move(desk_.windows.changed)](std::string_view node) {
    if (tell) tell(node);
    keys_.add(node);
  };
}

// "": agents that are not told how long reports hold need not know when amounts are written.
std::string NodeMetricController::saleRuleFor(const api::Node& node,
                                              const MetricSeen& metric) const {
  if (options_.validity == Duration::zero()) return "";
  const auto chosen = colocationFor(desk_.config->colocation.config, node.meta);
  const auto pods = desk_.caches.podsOn(node.meta.name.str());
  const bool byClock =
      desk_.windows.report && desk_.windows.report(node, &metric.facts, pods).has_value();
  return api::saleRuleText(saleRuleOf(chosen.strategy, byClock));
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
  const Duration validity = validityFor(options_.validity, *desk_.config, node->meta);
  if (metric && metric->validity != validity)
    return companion_.annotate(name, api::kReportValidityKey, textOf(validity), std::move(done));
  const std::string rule = metric ? saleRuleFor(*node, *metric) : "";
  if (metric && metric->saleRule.view() != rule)
    return companion_.annotate(name, api::kSaleRuleKey,
                               rule.empty() ? std::nullopt : std::optional(rule), std::move(done));
  companion_.ensure(name, metric ? std::optional(metric->specDigest) : std::nullopt, toJson(spec),
                    std::move(done));
}

ControllerInfo controllers::nodemetric() {
  return {.name = "nodemetric",
          .make = makeController<NodeMetricController>,
          .access = {{client::kind::kNode, kFollow},
                     {client::kind::kNodeMetric, "list watch create patch delete"}},
          .after = "noderesource",
          .flags = declareFlags,
          .check = checkFlags};
}

}  // namespace mangrove::manager
