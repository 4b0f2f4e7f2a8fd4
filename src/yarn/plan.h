#pragma once
// One round of `mangrove yarn sync`: from what Kubernetes and the ResourceManager say to what each of
// them is told, and what is wrong.
//
//   RoundPlan plan = planRound({nodes, pods, rmNodes, reports, options, mono, wall});
//   for (const CapacityUpdate& one : plan.updates) post(one);      // to the ResourceManager
//   for (const NodeWrite& one : plan.nodes) patch(one);            // what YARN has, on the node
//   for (const PodWrite& one : plan.pods) patch(one);              // for the agent
//
// Pure functions, any thread.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "yarn/ledger.h"
#include "yarn/resource_manager.h"

namespace mangrove::yarn {

struct SyncOptions {
  CapacityOptions capacity = {};
  std::string cluster = {};  // cluster-id of the NodeManagers that are ours; "": all
};

using Nodes = std::map<std::string, std::shared_ptr<const YarnNode>, std::less<>>;
using Pods = std::map<std::string, std::shared_ptr<const YarnPod>, std::less<>>;
using Reports = std::map<std::string, NodeReport, std::less<>>;  // by node id

struct RoundInputs {
  const Nodes& nodes;
  const Pods& pods;
  const std::vector<RmNode>& yarn;
  const Reports& reports;
  const SyncOptions& options;
  MonoTime now = {};
  WallTime wall = {};
};

struct CapacityUpdate {
  std::string nodeId, node;
  CapacityStep step;
  Capacity before;
};
struct NodeWrite {
  std::string node;
  std::string thirdParties;  // the annotation's text
};
struct PodWrite {
  std::string pod;       // "namespace/name"
  std::string capacity;  // the annotation's text
};
// Something a person should mend.
struct Finding {
  std::string pod;  // "namespace/name"; "": about no pod
  std::string reason;
  std::string text;
  bool operator==(const Finding&) const = default;
};
// A NodeManager that is looked after.
struct Standing {
  std::string nodeId, node, pod;
  Capacity wanted, told, used;
};

struct RoundPlan {
  std::vector<CapacityUpdate> updates;
  std::vector<NodeWrite> nodes;
  std::vector<PodWrite> pods;
  std::vector<Finding> findings;
  std::vector<Standing> standings;
  Reports reports;  // as observed, of the NodeManagers that are there
};

// How long a new NodeManager may take until the ResourceManager knows it.
inline constexpr Duration kMayRegister = std::chrono::seconds(60);

RoundPlan planRound(const RoundInputs& in);

// By each finding's reason, as Events and the metric have it.
namespace finding {
inline constexpr std::string_view kUnnamed = "NodeManagerUnnamed";
inline constexpr std::string_view kTwice = "NodeManagerTwice";
inline constexpr std::string_view kMissing = "NodeManagerMissing";
inline constexpr std::string_view kNotRunning = "NodeManagerNotRunning";
inline constexpr std::string_view kNotBestEffort = "NodeManagerNotBestEffort";
inline constexpr std::string_view kForeign = "NodeManagerForeign";
inline constexpr std::string_view kUnreadable = "NodeUnreadable";
inline constexpr std::string_view kMemoryOnly = "ResourceCalculatorMemoryOnly";
}  // namespace finding

}  // namespace mangrove::yarn
