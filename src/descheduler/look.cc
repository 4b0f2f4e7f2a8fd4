#include "descheduler/look.h"

#include <algorithm>

namespace mangrove::descheduler {

Look::Look(std::vector<NodePtr> nodes, std::vector<PodPtr> pods, std::vector<MetricPtr> metrics,
           WallTime now)
    : keptNodes_(std::move(nodes)),
      keptPods_(std::move(pods)),
      keptMetrics_(std::move(metrics)),
      now_(now) {
  for (const NodePtr& node : keptNodes_) nodeByName_[node->meta.name.str()] = node.get();
  for (const auto& [name, node] : nodeByName_) nodes_.push_back(node);
  for (const MetricPtr& metric : keptMetrics_)
    metricByName_[metric->meta.name.str()] = metric.get();
  for (const PodPtr& pod : keptPods_) {
    pods_.push_back(pod.get());
    if (!pod->nodeName.empty()) byNode_[pod->nodeName.str()].push_back(pod.get());
  }
}

const Pods& Look::podsOn(std::string_view node) const {
  static const Pods kNone;
  const auto found = byNode_.find(node);
  return found == byNode_.end() ? kNone : found->second;
}

Pods Look::activeOn(std::string_view node) const {
  Pods out = podsOn(node);
  std::erase_if(out, [](const api::Pod* pod) { return api::isTerminated(*pod); });
  return out;
}

const api::Node* Look::node(std::string_view name) const {
  const auto found = nodeByName_.find(name);
  return found == nodeByName_.end() ? nullptr : found->second;
}

const api::NodeMetric* Look::metric(std::string_view node) const {
  const auto found = metricByName_.find(node);
  return found == metricByName_.end() ? nullptr : found->second;
}

bool takesPart(const api::Node& node) {
  const api::Condition* ready = api::findCondition(node.status.conditions, "Ready");
  return ready == nullptr || ready->status == api::Truth::kTrue;
}

}  // namespace mangrove::descheduler
