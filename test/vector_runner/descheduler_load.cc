// LowNodeLoad: usage, thresholds, classes, who is evicted, and in which round.
#include <algorithm>
#include <map>
#include <set>

#include "descheduler/load/detector.h"
#include "descheduler/order/pod_order.h"
#include "descheduler/plugins/low_node_load.h"
#include "vector_runner/descheduler_support.h"

namespace mangrove::vectors {
namespace {

using namespace descheduler;

json::Object amounts(const Scale& scale, const Loads& loads, bool withPods) {
  json::Object out;
  for (size_t i = 0; i < scale.size(); ++i) {
    const std::string& name = scale.name(i);
    if (name == "pods" && !withPods) continue;
    const std::string key = name == "cpu" ? "cpu_milli" : name == "memory" ? "memory_bytes" : name;
    out[key] = scale.plain(i, loads[i]);
  }
  return out;
}

json::Object nodeResult(const Scale& scale, const NodeLoad& node, bool withProd) {
  json::Object out{{"usage", amounts(scale, node.usage, true)},
                   {"prod_usage", amounts(scale, node.prodUsage, true)},
                   {"low", amounts(scale, node.limits.low, false)},
                   {"high", amounts(scale, node.limits.high, false)}};
  if (withProd) {
    out["prod_low"] = amounts(scale, node.limits.prodLow, false);
    out["prod_high"] = amounts(scale, node.limits.prodHigh, false);
  }
  return out;
}

std::string_view classKey(LoadClass kind) {
  switch (kind) {
    case LoadClass::kLow:
      return "low";
    case LoadClass::kHigh:
      return "high";
    case LoadClass::kProdLow:
      return "prodLow";
    case LoadClass::kProdHigh:
      return "prodHigh";
    case LoadClass::kBothLow:
      return "bothLow";
    case LoadClass::kNeither:
      break;
  }
  return "";
}

// An evictor that writes down what is asked of it.
class Recorder final : public Evictor, public Hands {
 public:
  explicit Recorder(const json::Object& c) {
    for (const char* key : {"filter_refuses", "eviction_fails"}) {
      const json::Value& names = member(c, key);
      if (!names.is_array()) continue;
      for (const json::Value& name : names.get_array()) {
        (key == std::string_view("filter_refuses") ? refused_ : failing_)
            .insert(std::string(name.get_string()));
      }
    }
  }
  bool permits(const api::Pod& pod) override { return !refused_.contains(pod.meta.name.str()); }
  bool permitsNow(const api::Pod&) override { return true; }
  bool evict(const api::Pod& pod, std::string_view, std::string_view reason) override {
    if (failing_.contains(pod.meta.name.str())) return false;
    evicted.push_back(json::Object{
        {"node", pod.nodeName.view()}, {"pod", pod.meta.name.view()}, {"reason", reason}});
    return true;
  }
  bool cordon(const api::Node&, bool) override { return false; }
  bool setDeletionCost(const api::Pod&, int32_t) override { return false; }
  json::Array evicted;

 private:
  std::set<std::string> refused_, failing_;
};

Loads loadsOf(const Scale& scale, const json::Value& value) {
  Loads out = scale.zero();
  if (!value.is_object()) return out;
  const auto take = [&](std::string_view key, std::string_view name) {
    const json::Value& amount = member(value.get_object(), key);
    const size_t i = *scale.indexOf(name);
    if (amount.is_int64()) out[i] = scale.fromPlain(i, amount.get_int64());
  };
  take("cpu_milli", "cpu");
  take("memory_bytes", "memory");
  return out;
}

}  // namespace

void deschedulerClassify(const json::Object& c, Report& r) {
  const Look look = lookOf(c, r);
  const auto args = readLowNodeLoadArgs(member(c, "args"));
  if (!args) return r.mismatch("args", "accepted", args.error().text());
  const Bounds& given = args->pools.front().bounds;
  const Bounds bounds = completed(given);
  const Scale scale = scaleOf(bounds);
  std::vector<NodeLoad> nodes = measure(look, look.nodes(), scale, args->metricExpiration);
  setLimits(nodes, bounds, scale);
  std::map<std::string, json::Array> classes;
  json::Object byName;
  for (const NodeLoad& node : nodes) {
    if (classOf(node) != LoadClass::kNeither) {
      classes[std::string(classKey(classOf(node)))].emplace_back(node.name());
    }
    byName[node.name()] = nodeResult(scale, node, given.hasProd());
  }
  const json::Object& want = member(c, "result").get_object();
  for (const char* key : {"low", "high", "prodLow", "prodHigh", "bothLow"}) {
    r.expect(key, member(want, key), classes[key]);
  }
  r.expect("nodes", member(want, "nodes"), byName);
}

void deschedulerLoadEvict(const json::Object& c, Report& r) {
  const Look look = lookOf(c, r);
  auto args = readLowNodeLoadArgs(member(c, "args"));
  if (!args) return r.mismatch("args", "accepted", args.error().text());
  LowNodeLoad plugin(std::move(*args));
  Recorder recorder(c);
  NodeFit fit(look);
  Round round{look, look.nodes(), MonoTime{}, fit, recorder, recorder};
  if (auto ok = plugin.run(round); !ok) r.mismatch("run", "runs", ok.error().text());
  r.expect("evicted", member(c, "evicted"), recorder.evicted);
}

void deschedulerLoadRounds(const json::Object& c, Report& r) {
  const Look look = lookOf(c, r);
  auto args = readLowNodeLoadArgs(member(c, "args"));
  if (!args) return r.mismatch("args", "accepted", args.error().text());
  LowNodeLoad plugin(std::move(*args));
  const auto interval =
      std::chrono::seconds(static_cast<int64_t>(number(c, "round_interval_seconds")));
  const json::Value& want = member(c, "evicted_per_round");
  json::Array got;
  for (size_t i = 0; i < want.get_array().size(); ++i) {
    Recorder recorder(c);
    NodeFit fit(look);
    const MonoTime now{std::chrono::hours(1) + interval * static_cast<int64_t>(i)};
    Round round{look, look.nodes(), now, fit, recorder, recorder};
    (void)plugin.run(round);
    json::Array names;
    for (const json::Value& one : recorder.evicted) names.push_back(one.get_object().at("pod"));
    got.push_back(std::move(names));
  }
  r.expect("evicted_per_round", want, got);
}

void deschedulerDetector(const json::Object& c, Report& r) {
  AnomalyCondition condition;
  condition.abnormalities = static_cast<int64_t>(number(c, "consecutive_abnormalities"));
  condition.normalities = static_cast<int64_t>(number(c, "consecutive_normalities"));
  const auto timeout = static_cast<int64_t>(number(c, "timeout_seconds"));
  if (timeout > 0) condition.timeout = std::chrono::seconds(timeout);
  Detector detector(condition);
  size_t index = 0;
  for (const json::Value& value : member(c, "events").get_array()) {
    const json::Object& event = value.get_object();
    const MonoTime now{std::chrono::seconds(static_cast<int64_t>(number(event, "at_seconds")))};
    const std::string_view what = text(event, "event");
    if (what == "reset") detector.reset();
    if (what == "abnormal" || what == "normal") detector.mark(what == "abnormal", now);
    r.expect("events[" + std::to_string(index++) + "]", member(event, "state_after"),
             detector.isAnomaly(now) ? "anomaly" : "ok");
  }
}

void deschedulerPodOrder(const json::Object& c, Report& r) {
  const auto pods = objectsOf<api::Pod>(c, "pods", r);
  const Scale scale({"cpu", "memory"});
  const json::Object& usage = member(c, "pod_usage").get_object();
  std::vector<PodLoad> loads;
  for (const auto& pod : pods) {
    const json::Value& own = member(usage, pod->meta.name.view());
    loads.push_back({pod.get(), false, own.is_object(), loadsOf(scale, own)});
  }
  Weights weights;
  for (const auto& weight : member(c, "resource_weights").get_object()) {
    weights[std::string(weight.key())] = weight.value().get_int64();
  }
  std::vector<const PodLoad*> order;
  for (const PodLoad& load : loads) order.push_back(&load);
  sortForEviction(order, scale, loadsOf(scale, member(c, "excess")), weights);
  json::Array names;
  for (const PodLoad* load : order) names.emplace_back(load->pod->meta.name.view());
  r.expect("order", member(c, "order"), names);
}

}  // namespace mangrove::vectors
