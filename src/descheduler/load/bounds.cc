#include "descheduler/load/bounds.h"

#include <algorithm>
#include <set>

#include "descheduler/load/node_load.h"

namespace mangrove::descheduler {
namespace {

constexpr double kWhole = 100;

std::set<std::string> resourcesOf(const Bounds& bounds) {
  std::set<std::string> names = {"memory"};
  for (const Percents* map : {&bounds.low, &bounds.high, &bounds.prodLow, &bounds.prodHigh}) {
    for (const auto& [name, percent] : *map) names.insert(name);
  }
  return names;
}

void completePair(Percents& low, Percents& high, const std::string& name, double open) {
  if (low.contains(name)) {
    high.try_emplace(name, 0);
    return;
  }
  low[name] = high[name] = open;
}

using Pick = Loads NodeLoad::*;

// Mean over all nodes of the used share in percent; a node without capacity counts with 0.
std::vector<double> averages(const std::vector<NodeLoad>& nodes, const Scale& scale, Pick used) {
  std::vector<double> sums(scale.size(), 0);
  for (const NodeLoad& node : nodes) {
    for (size_t i = 0; i < scale.size(); ++i) {
      if (node.capacity[i] == 0) continue;
      sums[i] += static_cast<double>(scale.plain(i, (node.*used)[i])) /
                 static_cast<double>(scale.plain(i, node.capacity[i])) * kWhole;
    }
  }
  for (double& sum : sums) sum /= static_cast<double>(nodes.size());
  return sums;
}

struct Pair {
  const Percents& low;
  const Percents& high;
  std::vector<double> averages;  // empty: absolute
};

int64_t limitOf(const NodeLoad& node, const Scale& scale, size_t i, double percent) {
  const int64_t capacity = scale.plain(i, node.capacity[i]);
  return scale.fromPlain(i, shareOf(percent, capacity));
}

void setPair(const NodeLoad& node, const Scale& scale, const Pair& pair, Loads& low, Loads& high) {
  low = high = Loads(scale.size(), kUnlimited);
  for (const auto& [name, percent] : pair.low) {
    const size_t i = *scale.indexOf(name);
    double from = percent;
    double to = pair.high.at(name);
    if (!pair.averages.empty() && percent == 0) {
      low[i] = high[i] = node.capacity[i];
      continue;
    }
    if (!pair.averages.empty()) {
      to = std::clamp(pair.averages[i] + to, 0.0, kWhole);
      from = std::clamp(pair.averages[i] - from, 0.0, kWhole);
    }
    low[i] = limitOf(node, scale, i, from);
    high[i] = limitOf(node, scale, i, to);
  }
}

}  // namespace

int64_t shareOf(double percent, int64_t capacity) {
  return static_cast<int64_t>(percent * 0.01 * static_cast<double>(capacity));
}

Bounds completed(const Bounds& bounds) {
  Bounds out = bounds;
  const double open = bounds.deviation ? 0 : kWhole;
  for (const std::string& name : resourcesOf(bounds)) {
    completePair(out.low, out.high, name, open);
    completePair(out.prodLow, out.prodHigh, name, open);
  }
  return out;
}

Scale scaleOf(const Bounds& completed) {
  std::set<std::string> names = resourcesOf(completed);
  names.insert("pods");
  return Scale(names);
}

void setLimits(std::vector<NodeLoad>& nodes, const Bounds& bounds, const Scale& scale) {
  if (nodes.empty()) return;
  Pair all{bounds.low, bounds.high, {}};
  Pair prod{bounds.prodLow, bounds.prodHigh, {}};
  if (bounds.deviation) {
    all.averages = averages(nodes, scale, &NodeLoad::usage);
    prod.averages = averages(nodes, scale, &NodeLoad::prodUsage);
  }
  for (NodeLoad& node : nodes) {
    setPair(node, scale, all, node.limits.low, node.limits.high);
    setPair(node, scale, prod, node.limits.prodLow, node.limits.prodHigh);
  }
}

}  // namespace mangrove::descheduler
