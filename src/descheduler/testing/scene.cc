#include "descheduler/testing/scene.h"

namespace mangrove::descheduler::testing {

api::Node& Scene::node(const std::string& name, const api::ResourceList& allocatable,
                       const api::Labels& labels) {
  auto node = std::make_shared<api::Node>();
  node->meta.name = name;
  node->meta.labels = labels;
  node->status.allocatable = allocatable;
  return *(nodes_[name] = std::move(node));
}

api::Pod& Scene::pod(const std::string& name, const std::string& node,
                     const api::ResourceList& requests) {
  auto pod = std::make_shared<api::Pod>();
  pod->meta.name = name;
  pod->meta.ns = Interned("default");
  pod->meta.uid = api::Uid("uid-" + name);
  pod->meta.creationTimestamp = kNoon - std::chrono::hours(1);
  api::OwnerReference owner;
  owner.kind = Interned("ReplicaSet");
  owner.name = "rs";
  owner.uid = api::Uid("rs");
  owner.controller = true;
  pod->meta.owners = api::Shared<std::vector<api::OwnerReference>>({owner});
  pod->nodeName = Interned(node);
  api::PodSpec spec;
  spec.schedulerName = Interned("koord-scheduler");
  spec.containers.emplace_back().requests = requests;
  pod->spec = api::Shared<api::PodSpec>(std::move(spec));
  pod->status.phase = api::PodPhase::kRunning;
  api::Condition ready;
  ready.type = Interned("Ready");
  ready.status = api::Truth::kTrue;
  pod->status.conditions.push_back(ready);
  pods_.push_back(pod);
  return *pod;
}

api::NodeMetric& Scene::metric(const std::string& node, const api::ResourceList& system) {
  auto& metric = metrics_[node];
  if (metric == nullptr) {
    metric = std::make_shared<api::NodeMetric>();
    metric->meta.name = node;
    metric->status.updateTime = now;
    metric->status.nodeMetric.emplace().systemUsage.resources = system;
  }
  return *metric;
}

void Scene::usage(const std::string& node, const std::string& pod, const api::ResourceList& used) {
  api::PodMetric& report = metric(node).status.podsMetric.emplace_back();
  report.name = pod;
  report.ns = Interned("default");
  report.podUsage.resources = used;
}

Look Scene::look() const {
  std::vector<NodePtr> nodes;
  for (const auto& [name, node] : nodes_) nodes.push_back(node);
  std::vector<MetricPtr> metrics;
  for (const auto& [name, metric] : metrics_) metrics.push_back(metric);
  return {std::move(nodes), {pods_.begin(), pods_.end()}, std::move(metrics), now};
}

Result<> Scene::run(Plugin& plugin, MonoTime at) {
  const Look seen = look();
  NodeFit fit(seen);
  Round round{seen, seen.nodes(), at, fit, *this, *this, dryRun};
  return plugin.run(round);
}

bool Scene::evict(const api::Pod& pod, std::string_view, std::string_view reason) {
  if (failing.contains(pod.meta.name.str())) return false;
  evicted.push_back(pod.meta.name.str());
  reasons.emplace_back(reason);
  return true;
}
bool Scene::cordon(const api::Node& node, bool on) {
  cordons.push_back((on ? "+" : "-") + node.meta.name.str());
  return true;
}
bool Scene::setDeletionCost(const api::Pod& pod, int32_t cost) {
  costs[pod.meta.name.str()] = cost;
  return true;
}

}  // namespace mangrove::descheduler::testing
