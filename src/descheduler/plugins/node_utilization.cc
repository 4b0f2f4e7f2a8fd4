#include "descheduler/plugins/node_utilization.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/pod/pod_requests.h"
#include "descheduler/plugins/load_pass.h"

namespace mangrove::descheduler {
namespace {

Percents percentsIn(Args& args, std::string_view key) {
  Percents out;
  const json::Value* value = args.find(key);
  if (value == nullptr || !value->is_object()) return out;
  for (const auto& member : value->get_object()) {
    const double percent = member.value().is_number() ? member.value().to_number<double>() : -1;
    if (percent < 0 || percent > 100) {
      args.complain(fmt::format("{}.{}: found {}, want 0..100", key, std::string_view(member.key()),
                                json::write(member.value())));
    }
    out[std::string(member.key())] = percent;
  }
  return out;
}

// Which nodes and pods; resources that a pool does not weigh count 1.
UtilizationArgs begin(Args& args, Percents low, Percents high) {
  UtilizationArgs out;
  out.pass.numberOfNodes = args.integer("numberOfNodes", 0);
  out.pass.choice.namespaces = readNamespaces(args, "evictableNamespaces");
  LoadPool& pool = out.pass.pools.emplace_back();
  for (const auto& [name, percent] : low) pool.weights[name] = 1;
  pool.bounds.low = std::move(low);
  pool.bounds.high = std::move(high);
  if (pool.bounds.low.empty()) args.complain("thresholds names no resource");
  return out;
}

Result<UtilizationArgs> done(const Args& args, UtilizationArgs out) {
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return out;
}

struct Halves {
  NodeLoads under;
  NodeLoads over;
};

}  // namespace

Result<UtilizationArgs> readLowUtilizationArgs(const json::Value& value) {
  Args args(value, "LowNodeUtilizationArgs");
  args.only({"thresholds", "targetThresholds", "useDeviationThresholds", "numberOfNodes",
             "evictableNamespaces"});
  UtilizationArgs out =
      begin(args, percentsIn(args, "thresholds"), percentsIn(args, "targetThresholds"));
  Bounds& bounds = out.pass.pools[0].bounds;
  bounds.deviation = args.boolean("useDeviationThresholds", false);
  for (const auto& [name, low] : bounds.low) {
    const auto high = bounds.high.find(name);
    if (high == bounds.high.end() || (!bounds.deviation && low > high->second)) {
      args.complain(
          fmt::format("thresholds.{} is {}, want the same resource in targetThresholds, "
                      "and not below it",
                      name, low));
    }
  }
  return done(args, std::move(out));
}

Result<UtilizationArgs> readHighUtilizationArgs(const json::Value& value) {
  Args args(value, "HighNodeUtilizationArgs");
  args.only({"thresholds", "numberOfNodes", "evictionModes", "evictableNamespaces"});
  Percents low = percentsIn(args, "thresholds");
  Percents whole = low;
  for (auto& [name, percent] : whole) percent = 100;
  for (const std::string& mode : args.texts("evictionModes")) {
    if (mode != "OnlyThresholdingResources") {
      args.complain(fmt::format("evictionModes has '{}', want OnlyThresholdingResources", mode));
    }
  }
  return done(args, begin(args, std::move(low), std::move(whole)));
}

std::vector<NodeLoad> requested(const Look& look, const Nodes& nodes, const Scale& scale) {
  const size_t podsAt = *scale.indexOf("pods");
  std::vector<NodeLoad> out;
  for (const api::Node* node : nodes) {
    NodeLoad& load = out.emplace_back();
    load.node = node;
    load.capacity = scale.of(node->status.allocatable);
    load.usage = load.prodUsage = scale.zero();
    for (const api::Pod* pod : look.activeOn(node->meta.name.view())) {
      PodLoad& own = load.pods.emplace_back();
      own.pod = pod;
      own.isMeasured = true;
      own.usage = scale.of(api::podRequests(*pod));
      own.usage[podsAt] = 1;
      add(load.usage, own.usage);
    }
  }
  return out;
}

Result<> LowNodeUtilization::run(Round& round) {
  const LoadPool& pool = args_.pass.pools[0];
  const Bounds bounds = completed(pool.bounds);
  const Scale scale = scaleOf(bounds);
  std::vector<NodeLoad> nodes = requested(round.look, round.nodes, scale);
  setLimits(nodes, bounds, scale);
  Halves halves;
  for (NodeLoad& node : nodes) {
    const bool canTake = !node.node->spec.unschedulable;
    if (canTake && isUnder(node.usage, node.limits.low)) halves.under.push_back(&node);
    if (isOver(node.usage, node.limits.high)) halves.over.push_back(&node);
  }
  const auto lows = static_cast<int64_t>(halves.under.size());
  if (lows == 0 || lows <= args_.pass.numberOfNodes || halves.over.empty()) return {};
  const PassView view{kName, args_.pass, pool, bounds, scale, round};
  LoadPass pass(view, LoadPass::By::kAll, halves.under,
                headroomOf(halves.under, scale, LoadPass::By::kAll));
  sortHottestFirst(halves.over, view, LoadPass::By::kAll);
  for (NodeLoad* node : halves.over) pass.relieve(*node);
  return {};
}

// A node that is to be emptied is above its bound as long as anything is on it.
Result<> HighNodeUtilization::run(Round& round) {
  const LoadPool& pool = args_.pass.pools[0];
  const Bounds bounds = completed(pool.bounds);
  const Scale scale = scaleOf(bounds);
  std::vector<NodeLoad> nodes = requested(round.look, round.nodes, scale);
  setLimits(nodes, bounds, scale);
  Halves halves;
  for (NodeLoad& node : nodes) {
    (isUnder(node.usage, node.limits.low) ? halves.under : halves.over).push_back(&node);
  }
  std::erase_if(halves.over, [](const NodeLoad* node) { return node->node->spec.unschedulable; });
  const auto lows = static_cast<int64_t>(halves.under.size());
  if (lows == 0 || lows <= args_.pass.numberOfNodes || halves.over.empty()) return {};
  const PassView view{kName, args_.pass, pool, bounds, scale, round};
  LoadPass pass(view, LoadPass::By::kAll, halves.over,
                headroomOf(halves.over, scale, LoadPass::By::kAll));
  sortHottestFirst(halves.under, view, LoadPass::By::kAll);
  std::reverse(halves.under.begin(), halves.under.end());
  for (NodeLoad* node : halves.under) {
    for (const auto& [name, percent] : pool.bounds.low) node->limits.high[*scale.indexOf(name)] = 0;
    pass.relieve(*node);
  }
  return {};
}

}  // namespace mangrove::descheduler
