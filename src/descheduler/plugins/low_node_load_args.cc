#include "descheduler/plugins/low_node_load_args.h"

#include <algorithm>

#include <fmt/core.h>

namespace mangrove::descheduler {
namespace {

constexpr std::string_view kFirstPool = "__default_node_pool__";

Percents readPercents(Args& args, std::string_view key) {
  Percents out;
  const json::Value* value = args.find(key);
  if (value == nullptr) return out;
  if (!value->is_object()) {
    args.complain(
        fmt::format("{}: found {}, want percentages by resource", key, json::write(*value)));
    return out;
  }
  for (const auto& member : value->get_object()) {
    const double percent = member.value().is_number() ? member.value().to_number<double>() : -1;
    if (percent < 0) {
      args.complain(fmt::format("{}.{}: found {}, want a percentage of at least 0", key,
                                std::string_view(member.key()), json::write(member.value())));
    }
    out[std::string(member.key())] = percent;
  }
  return out;
}

void inherit(Percents& own, const Percents& outer) {
  if (own.empty()) own = outer;
}

Bounds readBounds(Args& args, const Bounds* outer) {
  Bounds out;
  out.deviation = args.boolean("useDeviationThresholds", false);
  out.low = readPercents(args, "lowThresholds");
  out.high = readPercents(args, "highThresholds");
  out.prodLow = readPercents(args, "prodLowThresholds");
  out.prodHigh = readPercents(args, "prodHighThresholds");
  if (outer == nullptr) return out;
  inherit(out.low, outer->low);
  inherit(out.high, outer->high);
  inherit(out.prodLow, outer->prodLow);
  inherit(out.prodHigh, outer->prodHigh);
  return out;
}

void expectAtMost(Args& args, std::string_view lowName, const Percents& low,
                  std::string_view highName, const Percents& high) {
  for (const auto& [resource, percent] : low) {
    const auto other = high.find(resource);
    if (other != high.end() && percent > other->second) {
      args.complain(fmt::format("{}.{} is {}, above {}.{} with {}", lowName, resource, percent,
                                highName, resource, other->second));
    }
  }
}

void expectHigh(Args& args, std::string_view lowName, const Percents& low,
                std::string_view highName, const Percents& high) {
  for (const auto& [resource, percent] : low) {
    if (high.contains(resource)) continue;
    args.complain(
        fmt::format("{} has {} and {} does not: every node above {} % would be hot; want "
                    "{} in both or in none",
                    lowName, resource, highName, percent, resource));
  }
}

// In deviation mode bounds are distances to two sides of an average and may cross.
void checkBounds(Args& args, const Bounds& bounds) {
  expectHigh(args, "lowThresholds", bounds.low, "highThresholds", bounds.high);
  expectHigh(args, "prodLowThresholds", bounds.prodLow, "prodHighThresholds", bounds.prodHigh);
  if (bounds.deviation) return;
  expectAtMost(args, "lowThresholds", bounds.low, "highThresholds", bounds.high);
  expectAtMost(args, "prodHighThresholds", bounds.prodHigh, "highThresholds", bounds.high);
  expectAtMost(args, "prodLowThresholds", bounds.prodLow, "prodHighThresholds", bounds.prodHigh);
}

Weights readWeights(Args& args, const Bounds& bounds, const Weights* outer) {
  Weights out = args.integers("resourceWeights");
  if (out.empty()) out = outer != nullptr ? *outer : Weights{{"cpu", 1}, {"memory", 1}};
  for (const Percents* map : {&bounds.low, &bounds.high}) {
    for (const auto& [resource, percent] : *map) {
      int64_t& weight = out[resource];
      if (weight <= 0) weight = 1;
    }
  }
  return out;
}

AnomalyCondition readAnomaly(Args& args, const AnomalyCondition& outer) {
  Args part = args.object("anomalyCondition");
  part.only({"timeout", "consecutiveAbnormalities", "consecutiveNormalities"});
  AnomalyCondition out = outer;
  const auto timeout = part.duration("timeout");
  if (timeout && *timeout > Duration::zero()) out.timeout = *timeout;
  const auto count = [&](std::string_view key, int64_t& into) {
    const int64_t given = part.integer(key, 0);
    if (given < 0) part.complain(fmt::format("{} is {}, want at least 1", key, given));
    if (given > 0) into = given;
  };
  count("consecutiveAbnormalities", out.abnormalities);
  count("consecutiveNormalities", out.normalities);
  args.take(part);
  return out;
}

LoadPool readPool(Args& args, const LoadPool* outer) {
  LoadPool pool;
  pool.nodeSelector = readSelector(args, "nodeSelector");
  pool.bounds = readBounds(args, outer != nullptr ? &outer->bounds : nullptr);
  pool.weights = readWeights(args, pool.bounds, outer != nullptr ? &outer->weights : nullptr);
  pool.anomaly = readAnomaly(args, outer != nullptr ? outer->anomaly : AnomalyCondition{});
  checkBounds(args, pool.bounds);
  return pool;
}

void readPools(Args& args, LowNodeLoadArgs& out) {
  out.pools.push_back(readPool(args, nullptr));
  out.pools.back().name = kFirstPool;
  for (const json::Value& entry : args.list("nodePools")) {
    Args one(entry, args.where() + ".nodePools");
    one.only({"name", "nodeSelector", "useDeviationThresholds", "highThresholds", "lowThresholds",
              "prodHighThresholds", "prodLowThresholds", "resourceWeights", "anomalyCondition"});
    LoadPool pool = readPool(one, &out.pools.front());
    pool.name = one.text("name");
    out.pools.push_back(std::move(pool));
    args.take(one);
  }
}

// An entry must outlive the gap between two looks, or "in a row" could never be counted.
Duration longEnough(Duration ttl, Duration interval, const std::vector<LoadPool>& pools) {
  int64_t looks = 0;
  for (const LoadPool& pool : pools) looks = std::max(looks, pool.anomaly.abnormalities);
  return std::max(ttl, interval * (looks + 2));
}

}  // namespace

Result<LowNodeLoadArgs> readLowNodeLoadArgs(const json::Value& value, Duration interval) {
  Args args(value, "LowNodeLoadArgs");
  args.only({"paused",
             "dryRun",
             "numberOfNodes",
             "nodeMetricExpirationSeconds",
             "evictableNamespaces",
             "nodeSelector",
             "podSelectors",
             "nodeFit",
             "useDeviationThresholds",
             "lowThresholds",
             "highThresholds",
             "prodLowThresholds",
             "prodHighThresholds",
             "resourceWeights",
             "anomalyCondition",
             "detectorCacheTimeout",
             "nodePools",
             "minimalPlans",
             "budget",
             "minGain"});
  LowNodeLoadArgs out;
  out.paused = args.boolean("paused", false);
  out.dryRun = args.boolean("dryRun", false);
  out.nodeFit = args.boolean("nodeFit", true);
  out.minimalPlans = args.boolean("minimalPlans", false);
  out.budget = args.integer("budget", 0);
  if (out.budget < 0) args.complain(fmt::format("budget is {}, want at least 0 moves", out.budget));
  if (out.budget > 0 && !out.minimalPlans)
    args.complain("budget is about minimal plans, want minimalPlans: true beside it");
  out.minGain = args.number("minGain", out.minGain);
  if (out.minGain < 0 || out.minGain > 100)
    args.complain(fmt::format("minGain is {}, want percent of a node from 0 to 100", out.minGain));
  out.numberOfNodes = args.integer("numberOfNodes", 0);
  const int64_t seconds = args.integer("nodeMetricExpirationSeconds", 180);
  if (seconds <= 0) {
    args.complain(fmt::format("nodeMetricExpirationSeconds is {}, want more than 0", seconds));
  }
  out.metricExpiration = std::chrono::seconds(seconds);
  out.choice = readPodChoice(args);
  readPools(args, out);
  out.detectorTtl = longEnough(args.duration("detectorCacheTimeout").value_or(out.detectorTtl),
                               interval, out.pools);
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return out;
}

}  // namespace mangrove::descheduler
