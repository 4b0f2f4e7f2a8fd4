#pragma once
// DaemonSet: one pod on every node that takes it. Pods are pinned to their node by affinity and
// bound by the scheduler like any other. Pure functions, any thread.

#include <memory>
#include <string>
#include <vector>

#include "api/object/node.h"
#include "workloads/objects.h"
#include "workloads/plan.h"
#include "workloads/revisions.h"

namespace mangrove::workloads {

using Nodes = std::vector<std::shared_ptr<const api::Node>>;

Plan planDaemonSet(const DaemonSet& set, const Pods& pods, const Nodes& nodes,
                   const Revisions& revisions, std::string raw, WallTime now);

// Whether the set's pods belong on a node: its name, selector, required affinity and taints that
// are not tolerated; `keep` asks whether a pod that is there may stay (NoExecute only).
struct NodeVerdict {
  bool run = false, keep = false;
};
NodeVerdict belongsOn(const api::PodTemplate& podTemplate, const api::Node& node);

}  // namespace mangrove::workloads
