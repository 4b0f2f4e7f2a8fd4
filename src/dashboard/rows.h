#pragma once
// What the pages, `mangrove top` and their tests know of a cluster: nodes and pods as rows of plain
// numbers, made from API objects, and one tick of a node's own agent. Cores and bytes; an absent
// number is null.
//
//   json::Array nodes = nodeRows(view);      // [{"name":"n1","cpu":{"capacity":16,"used":3.2,…}}]
//
// Pure functions, any thread.

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/look.h"
#include "api/koordinator/node_metric.h"
#include "api/koordinator/reservation.h"
#include "api/koordinator/yarn_use.h"
#include "api/object/node.h"
#include "api/pod/pod.h"
#include "json/value.h"

namespace mangrove::dashboard {

// The classes of a stack, from the most protected to what is no pod at all.
inline constexpr std::array<std::string_view, 6> kClasses = {"LSE", "LSR",    "LS",
                                                             "BE",  "SYSTEM", "other"};

struct ClusterView {
  std::vector<std::shared_ptr<const api::Node>> nodes;
  std::map<std::string, std::shared_ptr<const api::NodeMetric>, std::less<>> metrics;  // by node
  std::vector<std::shared_ptr<const api::Pod>> pods;
  std::vector<std::shared_ptr<const api::Reservation>> reservations;
};

// What an agent in this process saw in its last tick, by "namespace/name".
struct LiveUse {
  std::optional<double> cpu;
  std::optional<Bytes> memory;
  std::vector<api::YarnUse> yarn = {};  // of a NodeManager's pod
};
struct LiveNode {
  std::string node;
  std::optional<double> budget;  // cores best-effort work may use
  std::map<std::string, LiveUse, std::less<>> pods;
};

json::Array nodeRows(const ClusterView& view);
// Those of one node, or of all for "". `live` may be null.
json::Array podRows(const ClusterView& view, std::string_view node, const LiveNode* live);

// {"t":…,"cpus":16,"cpu":{"LS":1.2,…},"memory":{…},"budget":4,"psi":{"cpu":0.01,…}}
json::Object tickOf(const agent::Look& look);
LiveNode liveNodeOf(const agent::Look& look, std::string node);

}  // namespace mangrove::dashboard
