#include "descheduler/load/node_load.h"

#include <algorithm>
#include <unordered_map>

#include "api/annotations/node.h"
#include "api/annotations/report_validity.h"
#include "api/pod/classes.h"
#include "base/number/elapsed.h"

namespace mangrove::descheduler {
namespace {

bool isFresh(const api::NodeMetric* metric, WallTime now, Duration expiration) {
  if (metric == nullptr || !metric->status.nodeMetric) return false;
  const Duration held = std::max(expiration, api::reportValidity(metric->meta.annotations));
  return metric->status.updateTime != kZeroTime && elapsed(metric->status.updateTime, now) < held;
}

using UsageByPod = std::unordered_map<api::NamespacedName, Loads>;

UsageByPod reported(const api::NodeMetric& metric, const Scale& scale, Loads& sum) {
  UsageByPod out;
  for (const api::PodMetric& pod : metric.status.podsMetric) {
    Loads usage = scale.of(pod.podUsage.resources);
    add(sum, usage);
    out.insert_or_assign({pod.ns.str(), pod.name.str()}, std::move(usage));
  }
  return out;
}

NodeLoad measureOne(const Look& look, const api::Node& node, const api::NodeMetric& metric,
                    const Scale& scale) {
  NodeLoad out;
  out.node = &node;
  out.capacity = scale.of(realAllocatable(node));
  out.usage = scale.of(metric.status.nodeMetric->systemUsage.resources);
  out.prodUsage = scale.zero();
  UsageByPod usage = reported(metric, scale, out.usage);
  const size_t podsAt = *scale.indexOf("pods");
  for (const api::Pod* pod : look.activeOn(node.meta.name.view())) {
    PodLoad& load = out.pods.emplace_back();
    load.pod = pod;
    load.isProd = api::bandWithDefault(*pod) == api::PriorityBand::kProd;
    const auto found = usage.find(api::keyOf(pod->meta));
    load.isMeasured = found != usage.end();
    load.usage = load.isMeasured ? std::move(found->second) : scale.zero();
    load.usage[podsAt] = 1;
    if (load.isProd) add(out.prodUsage, load.usage);
  }
  out.usage[podsAt] = static_cast<int64_t>(out.pods.size());
  return out;
}

}  // namespace

api::ResourceList realAllocatable(const api::Node& node) {
  api::ResourceList out = node.status.allocatable;
  const auto raw = api::parseRawAllocatable(node.meta.annotations);
  if (raw && *raw) {
    for (const auto& entry : **raw) out.set(entry.name, entry.amount);
  }
  return out;
}

std::vector<NodeLoad> measure(const Look& look, const Nodes& nodes, const Scale& scale,
                              Duration expiration) {
  std::vector<NodeLoad> out;
  out.reserve(nodes.size());
  for (const api::Node* node : nodes) {
    const api::NodeMetric* metric = look.metric(node->meta.name.view());
    if (isFresh(metric, look.now(), expiration)) {
      out.push_back(measureOne(look, *node, *metric, scale));
    }
  }
  return out;
}

bool isOver(const Loads& usage, const Loads& limits) {
  for (size_t i = 0; i < limits.size(); ++i) {
    if (limits[i] != kUnlimited && usage[i] > limits[i]) return true;
  }
  return false;
}
bool isUnder(const Loads& usage, const Loads& limits) {
  return !isOver(usage, limits);
}

LoadClass classOf(const NodeLoad& node) {
  const bool canTake = !node.node->spec.unschedulable;
  const bool prodOver = isOver(node.prodUsage, node.limits.prodHigh);
  const bool prodUnder = canTake && isUnder(node.prodUsage, node.limits.prodLow);
  if (canTake && isUnder(node.usage, node.limits.low)) {
    if (prodOver) return LoadClass::kProdHigh;
    return prodUnder ? LoadClass::kBothLow : LoadClass::kLow;
  }
  if (isOver(node.usage, node.limits.high)) return LoadClass::kHigh;
  if (prodOver) return LoadClass::kProdHigh;
  return prodUnder ? LoadClass::kProdLow : LoadClass::kNeither;
}

int64_t scoreOf(const Scale& scale, const Loads& usage, const Loads& capacity,
                const Weights& weights) {
  constexpr int64_t kMost = 1000;
  int64_t score = 0;
  int64_t sum = 0;
  for (size_t i = 0; i < scale.size(); ++i) {
    const auto weight = weights.find(scale.name(i));
    if (weight == weights.end()) continue;
    sum += weight->second;
    const int64_t whole = scale.plain(i, capacity[i]);
    if (whole == 0) continue;
    score += weight->second * (std::min(scale.plain(i, usage[i]), whole) * kMost / whole);
  }
  return sum == 0 ? 0 : score / sum;
}

}  // namespace mangrove::descheduler
