#pragma once
// The formulas by which resources are scored, free of nodes and pods. All divisions are int64
// divisions toward zero, scores are 0..100.
//
//   leastAllocated(28'000, 32'000) = 12;  mostAllocated(28'000, 32'000) = 87
//   balanced({0.5, 0.9}) = 80
//
// Pure functions, any thread.

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "placement/cluster/resource_ids.h"
#include "placement/framework/args.h"

namespace mangrove::placement {

int64_t leastAllocated(int64_t requested, int64_t allocatable);
int64_t mostAllocated(int64_t requested, int64_t allocatable);

struct ShapePoint {
  int64_t utilization = 0;
  int64_t score = 0;  // 0..100
};
// Piecewise linear, level outside of the ends.
int64_t onShape(std::span<const ShapePoint> shape, int64_t utilization);
int64_t balanced(std::span<const double> fractions);

enum class Strategy : uint8_t { kLeastAllocated, kMostAllocated, kRequestedToCapacityRatio };

struct ScoringStrategy {
  struct Weighted {
    ResourceId id;
    int64_t weight;
  };
  Strategy type = Strategy::kLeastAllocated;
  std::vector<Weighted> resources;
  std::vector<ShapePoint> shape;

  // One resource: what would be requested of what there is.
  int64_t scoreOf(int64_t requested, int64_t allocatable) const;
};

// The average over resources; add() those that count.
class WeightedMean {
 public:
  explicit WeightedMean(const ScoringStrategy& strategy) : strategy_(strategy) {}
  void add(int64_t requested, int64_t allocatable, int64_t weight);
  int64_t value() const;

 private:
  const ScoringStrategy& strategy_;
  int64_t sum_ = 0;
  int64_t weights_ = 0;
};

// [{name, weight}]; empty: cpu and memory, 1 each. Weights 1..100.
std::vector<ScoringStrategy::Weighted> readWeights(Args& args, ResourceIds& ids);
// {type, resources, requestedToCapacityRatio: {shape: [{utilization, score}]}}
ScoringStrategy readStrategy(Args args, Args& complaints, ResourceIds& ids, bool withRatio);

}  // namespace mangrove::placement
