#include "descheduler/plugins/scale_down_bin_pack.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include <fmt/core.h>

#include "api/pod/pod_requests.h"

namespace mangrove::descheduler {
namespace {

constexpr int32_t kStays = std::numeric_limits<int32_t>::max();

double ratioOf(double stays, double goes) {
  if (goes > 0) return stays / goes;
  return stays > 0 ? std::numeric_limits<double>::infinity() : 0;
}

void readWeights(Args& args, BinPackArgs& out) {
  const json::Value* value = args.find("resourceWeights");
  if (value == nullptr) return;
  if (!value->is_object()) return args.complain("resourceWeights: want numbers by resource");
  for (const auto& member : value->get_object()) {
    const double weight = member.value().is_number() ? member.value().to_number<double>() : 0;
    if (!(weight > 0) || !std::isfinite(weight)) {
      args.complain(fmt::format("resourceWeights.{} is {}, want a number above 0",
                                std::string_view(member.key()), json::write(member.value())));
    }
    out.weights[std::string(member.key())] = weight;
  }
}

}  // namespace

struct ScaleDownBinPack::NodeShare {
  const api::Node* node = nullptr;
  std::vector<std::pair<double, const api::Pod*>> eligible;  // with their fractions
  Pods skipped;
  double goes = 0;
  double stays = 0;
  auto rank() const {
    return std::tuple(ratioOf(stays, goes), eligible.size(), node->meta.name.view());
  }
};

Result<BinPackArgs> readBinPackArgs(const json::Value& value) {
  Args args(value, "ScaleDownBinPackArgs");
  args.only({"paused", "strategy", "maxPodsToEvict", "nodeSelector", "podSelectors",
             "evictableNamespaces", "resources", "resourceWeights"});
  BinPackArgs out;
  out.paused = args.boolean("paused", false);
  const std::string strategy = args.text("strategy", "CalculateOnly");
  out.evicts = strategy == "EvictDirectly";
  if (!out.evicts && strategy != "CalculateOnly") {
    args.complain(fmt::format("strategy is '{}', want CalculateOnly or EvictDirectly", strategy));
  }
  out.maxPodsToEvict = args.integer("maxPodsToEvict", 0);
  if (out.evicts && out.maxPodsToEvict <= 0) {
    args.complain("maxPodsToEvict must be above 0 with strategy EvictDirectly");
  }
  out.nodeSelector = readSelector(args, "nodeSelector");
  out.choice = readPodChoice(args);
  if (args.has("resources")) out.resources = args.texts("resources");
  readWeights(args, out);
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return out;
}

double ScaleDownBinPack::fractionOf(const api::ResourceList& requests,
                                    const api::Node& node) const {
  double sum = 0;
  for (const std::string& name : args_.resources) {
    const double whole = node.status.allocatable.amount(name).approximate();
    if (whole <= 0) continue;
    const auto weight = args_.weights.find(name);
    sum += (weight == args_.weights.end() ? 1 : weight->second) *
           requests.amount(name).approximate() / whole;
  }
  return sum;
}

// Who matches and is refused stays, and is told so; without selectors only what the filters refuse
// for good is known to stay.
ScaleDownBinPack::NodeShare ScaleDownBinPack::shareOf(const api::Node& node, Round& round) const {
  NodeShare out;
  out.node = &node;
  for (const api::Pod* pod : round.look.activeOn(node.meta.name.view())) {
    const double fraction = fractionOf(api::podRequests(*pod), node);
    if (args_.choice.takes(*pod) && round.evictor.permits(*pod)) {
      out.eligible.emplace_back(fraction, pod);
      out.goes += fraction;
      continue;
    }
    out.stays += fraction;
    if (args_.choice.isSelected(*pod) && !api::isOwnedBy(pod->meta, "DaemonSet")) {
      out.skipped.push_back(pod);
    }
  }
  return out;
}

BinPackOrder ScaleDownBinPack::order(Round& round) const {
  std::vector<NodeShare> shares;
  for (const api::Node* node : matching(args_.nodeSelector, round.nodes)) {
    NodeShare share = shareOf(*node, round);
    if (!share.eligible.empty()) shares.push_back(std::move(share));
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const NodeShare& a, const NodeShare& b) { return a.rank() < b.rank(); });
  BinPackOrder out;
  for (NodeShare& share : shares) {
    std::stable_sort(
        share.eligible.begin(), share.eligible.end(), [](const auto& a, const auto& b) {
          const auto key = [](const auto& one) {
            const api::ObjectMeta& meta = one.second->meta;
            return std::tuple(-one.first, -meta.creationTimestamp.time_since_epoch().count(),
                              meta.ns.view(), meta.name.view());
          };
          return key(a) < key(b);
        });
    for (const auto& [fraction, pod] : share.eligible) out.ranked.push_back(pod);
    out.skipped.insert(out.skipped.end(), share.skipped.begin(), share.skipped.end());
  }
  return out;
}

Result<> ScaleDownBinPack::run(Round& round) {
  if (args_.paused) return {};
  const BinPackOrder wanted = order(round);
  if (args_.evicts) {
    int64_t left = args_.maxPodsToEvict;
    for (const api::Pod* pod : wanted.ranked) {
      if (left == 0) break;
      if (round.evictor.evict(*pod, kName, "scale-down binpack")) --left;
    }
    return {};
  }
  if (round.dryRun) return {};
  int32_t rank = 0;
  for (const api::Pod* pod : wanted.ranked) round.hands.setDeletionCost(*pod, rank++);
  for (const api::Pod* pod : wanted.skipped) round.hands.setDeletionCost(*pod, kStays);
  return {};
}

}  // namespace mangrove::descheduler
