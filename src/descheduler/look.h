#pragma once
// What a cycle looks at: nodes, the pods on them, what they were last seen to use. One moment of the
// informers' caches; nothing in it changes while plugins read it, and whoever keeps a pointer out of
// it keeps the Look.
//
//   Look look(nodes, pods, metrics, clock.wall());
//   for (const api::Pod* pod : look.podsOn("n1")) …
//
// Values; const access from any thread.

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/koordinator/node_metric.h"
#include "api/object/node.h"
#include "api/pod/pod.h"

namespace mangrove::descheduler {

using NodePtr = std::shared_ptr<const api::Node>;
using PodPtr = std::shared_ptr<const api::Pod>;
using MetricPtr = std::shared_ptr<const api::NodeMetric>;
using Nodes = std::vector<const api::Node*>;
using Pods = std::vector<const api::Pod*>;

class Look {
 public:
  Look() = default;
  Look(std::vector<NodePtr> nodes, std::vector<PodPtr> pods, std::vector<MetricPtr> metrics,
       WallTime now);

  WallTime now() const { return now_; }
  // In the order of their names.
  const Nodes& nodes() const { return nodes_; }
  // All that name the node, and those of them that neither succeeded nor failed; in the order of
  // their keys.
  const Pods& podsOn(std::string_view node) const;
  Pods activeOn(std::string_view node) const;
  const Pods& pods() const { return pods_; }
  const api::Node* node(std::string_view name) const;          // nullptr: unknown
  const api::NodeMetric* metric(std::string_view node) const;  // nullptr: none

 private:
  std::vector<NodePtr> keptNodes_;
  std::vector<PodPtr> keptPods_;
  std::vector<MetricPtr> keptMetrics_;
  WallTime now_{};
  Nodes nodes_;
  Pods pods_;
  std::map<std::string, Pods, std::less<>> byNode_;
  std::map<std::string, const api::Node*, std::less<>> nodeByName_;
  std::map<std::string, const api::NodeMetric*, std::less<>> metricByName_;
};

// Nodes that take part in a cycle: Ready is True, or nobody says so. Cordoned ones too.
bool takesPart(const api::Node& node);

}  // namespace mangrove::descheduler
