#pragma once
// What a node and its pods use, as last reported, and on which side of its bounds that is.
//
//   std::vector<NodeLoad> nodes = measure(look, poolNodes, scale, std::chrono::seconds(180));
//   setLimits(nodes, bounds, scale);
//   if (classOf(nodes[0]) == LoadClass::kHigh) …
//
// usage = system usage + the sum over all reported pods (not the node's own figure, and without host
// applications). Pure functions, any thread.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "descheduler/load/bounds.h"
#include "descheduler/load/scale.h"
#include "descheduler/look.h"

namespace mangrove::descheduler {

inline constexpr int64_t kUnlimited = -1;  // in Limits: this resource has none

struct PodLoad {
  const api::Pod* pod = nullptr;
  bool isProd = false;
  bool isMeasured = false;
  Loads usage;
  Loads expected = {};  // the peak of its last hour; empty: nobody kept it
  const Loads& atWork() const { return expected.empty() ? usage : expected; }
};

struct NodeLoad {
  const api::Node* node = nullptr;
  Loads capacity;
  Loads usage;
  Loads prodUsage;
  std::vector<PodLoad> pods;  // active ones
  Limits limits;
  std::string_view name() const { return node->meta.name.view(); }
};

// One per node whose metric is there and younger than `expiration`; the others cannot be judged.
std::vector<NodeLoad> measure(const Look& look, const Nodes& nodes, const Scale& scale,
                              Duration expiration);

// Allocatable, with what it was before amplification where the node says so.
api::ResourceList realAllocatable(const api::Node& node);

bool isUnder(const Loads& usage, const Loads& limits);  // nothing above its limit
bool isOver(const Loads& usage, const Loads& limits);   // something above its limit

enum class LoadClass { kNeither, kLow, kHigh, kProdLow, kProdHigh, kBothLow };
// A cordoned node is never low: nothing can go there.
LoadClass classOf(const NodeLoad& node);

// 0..1000: used shares, weighted, in whole numbers. Resources without a weight do not count.
using Weights = std::map<std::string, int64_t>;
int64_t scoreOf(const Scale& scale, const Loads& usage, const Loads& capacity,
                const Weights& weights);

}  // namespace mangrove::descheduler
