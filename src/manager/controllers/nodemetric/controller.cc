#include "manager/controllers/nodemetric/controller.h"

#include "api/write.h"
#include "manager/config/node_strategy.h"

namespace mangrove::manager {
namespace {

namespace kind = client::kind;

client::Request createRequest(const std::string& name, const api::NodeMetricSpec& spec) {
  client::Request out;
  out.verb = client::Verb::kCreate;
  out.ref = {kind::kNodeMetric, "", "", ""};
  out.body = json::write(json::Object{{"apiVersion", kind::kNodeMetric.apiVersion()},
                                      {"kind", kind::kNodeMetric.kind},
                                      {"metadata", {{"name", name}}},
                                      {"spec", toJson(spec)}});
  return out;
}

}  // namespace

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

NodeMetricController::NodeMetricController(Desk& desk)
    : desk_(desk),
      count_(desk.metrics, "slo_controller_nodemetric_reconcile_count",
             "Passes over NodeMetric objects."),
      parsed_(desk.metrics, "slo_controller_nodemetric_spec_parse_count",
              "Specs of NodeMetric objects made from the configuration.") {}

void NodeMetricController::reconcile(const std::string& name, ControlLoop::Done done) {
  const auto node = desk_.caches.nodes.find(name);
  const auto metric = desk_.caches.metrics.find(name);
  if (!node && !metric) return done({});
  if (!node)
    return write(client::deleteRequest({kind::kNodeMetric, "", name, ""}), std::move(done));
  if (!desk_.config->colocation.available) return done({});
  const auto spec = metricSpecFor(*desk_.config, node->meta);
  parsed_.good();
  if (!metric) return write(createRequest(name, spec), std::move(done));
  if (desk_.config->errorStatus() || metric->specDigest == digestOf(toJson(spec))) {
    count_.good();
    return done({});
  }
  write(client::patchRequest({kind::kNodeMetric, "", name, ""}, client::PatchType::kMerge,
                             json::write(json::Object{{"spec", toJson(spec)}})),
        std::move(done));
}

void NodeMetricController::write(client::Request request, ControlLoop::Done done) {
  desk_.send(std::move(request), [this, done = std::move(done)](Result<client::Reply> r) mutable {
    const bool fine = r || r.error().code() == Code::kNotFound || r.error().code() == Code::kExists;
    if (fine)
      count_.good();
    else
      count_.bad("writeFailed");
    done(fine ? Result<>() : pass(r.error()));
  });
}

}  // namespace mangrove::manager
