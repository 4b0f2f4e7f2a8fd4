#include "placement/plugins/noderesources/scoring.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/core.h>

#include "placement/framework/scale.h"

namespace mangrove::placement {

int64_t leastAllocated(int64_t requested, int64_t allocatable) {
  if (allocatable == 0 || requested > allocatable) return 0;
  return (allocatable - requested) * kMaxScore / allocatable;
}

int64_t mostAllocated(int64_t requested, int64_t allocatable) {
  if (allocatable == 0) return 0;
  return std::min(requested, allocatable) * kMaxScore / allocatable;
}

int64_t onShape(std::span<const ShapePoint> shape, int64_t utilization) {
  for (size_t i = 0; i < shape.size(); i++) {
    if (utilization > shape[i].utilization) continue;
    if (i == 0) return shape[0].score;
    const ShapePoint &from = shape[i - 1], &to = shape[i];
    return from.score + (to.score - from.score) * (utilization - from.utilization) /
                            (to.utilization - from.utilization);
  }
  return shape.empty() ? 0 : shape.back().score;
}

int64_t balanced(std::span<const double> fractions) {
  double deviation = 0;
  if (fractions.size() == 2) {
    deviation = std::abs((fractions[0] - fractions[1]) / 2);
  } else if (fractions.size() > 2) {
    const double count = static_cast<double>(fractions.size());
    const double mean = std::accumulate(fractions.begin(), fractions.end(), 0.0) / count;
    double sum = 0;
    for (double fraction : fractions) sum += (fraction - mean) * (fraction - mean);
    deviation = std::sqrt(sum / count);
  }
  return static_cast<int64_t>((1 - deviation) * kMaxScore);
}

int64_t ScoringStrategy::scoreOf(int64_t requested, int64_t allocatable) const {
  if (type == Strategy::kLeastAllocated) return leastAllocated(requested, allocatable);
  if (type == Strategy::kMostAllocated) return mostAllocated(requested, allocatable);
  if (allocatable == 0 || requested > allocatable) return onShape(shape, kMaxScore);
  return onShape(shape, requested * kMaxScore / allocatable);
}

void WeightedMean::add(int64_t requested, int64_t allocatable, int64_t weight) {
  const int64_t score = strategy_.scoreOf(requested, allocatable);
  if (strategy_.type == Strategy::kRequestedToCapacityRatio && score <= 0) return;
  sum_ += score * weight;
  weights_ += weight;
}

int64_t WeightedMean::value() const {
  if (weights_ == 0) return 0;
  if (strategy_.type == Strategy::kRequestedToCapacityRatio)
    return std::llround(static_cast<double>(sum_) / static_cast<double>(weights_));
  return sum_ / weights_;
}

std::vector<ScoringStrategy::Weighted> readWeights(Args& args, ResourceIds& ids) {
  std::vector<ScoringStrategy::Weighted> out;
  for (const auto& entry : args.list("resources")) {
    Args one(entry, args.where() + ".resources");
    one.only({"name", "weight"});
    const std::string name = one.text("name");
    const int64_t weight = one.integer("weight", 1);
    if (name.empty()) one.complain("a resource without name");
    if (weight < 1 || weight > 100)
      one.complain(fmt::format("weight of {}: {} is not in 1..100", name, weight));
    args.take(one);
    out.push_back({ids.of(Interned(name)), weight});
  }
  if (out.empty()) out = {{kCpuId, 1}, {kMemoryId, 1}};
  return out;
}

namespace {

std::vector<ShapePoint> readShape(Args ratio, Args& complaints) {
  std::vector<ShapePoint> out;
  ratio.only({"shape"});
  for (const auto& entry : ratio.list("shape")) {
    Args point(entry, ratio.where() + ".shape");
    point.only({"utilization", "score"});
    const int64_t utilization = point.integer("utilization", 0);
    const int64_t score = point.integer("score", 0);
    if (utilization < 0 || utilization > 100 || score < 0 || score > 10)
      point.complain(fmt::format("({}, {}): want a utilization in 0..100 and a score in 0..10",
                                 utilization, score));
    if (!out.empty() && utilization <= out.back().utilization)
      point.complain(fmt::format("utilization {} does not grow", utilization));
    ratio.take(point);
    out.push_back({utilization, score * 10});
  }
  if (out.empty()) ratio.complain("shape: want at least one point");
  complaints.take(ratio);
  return out;
}

}  // namespace

ScoringStrategy readStrategy(Args args, Args& complaints, ResourceIds& ids, bool withRatio) {
  ScoringStrategy out;
  args.only({"type", "resources", "requestedToCapacityRatio"});
  const std::string type = args.text("type", "LeastAllocated");
  if (type == "LeastAllocated")
    out.type = Strategy::kLeastAllocated;
  else if (type == "MostAllocated")
    out.type = Strategy::kMostAllocated;
  else if (type == "RequestedToCapacityRatio" && withRatio)
    out.type = Strategy::kRequestedToCapacityRatio;
  else
    args.complain(fmt::format("type '{}': want LeastAllocated{} or MostAllocated", type,
                              withRatio ? ", RequestedToCapacityRatio" : ""));
  out.resources = readWeights(args, ids);
  if (out.type == Strategy::kRequestedToCapacityRatio)
    out.shape = readShape(args.object("requestedToCapacityRatio"), args);
  complaints.take(args);
  return out;
}

}  // namespace mangrove::placement
