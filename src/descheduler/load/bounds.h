#pragma once
// Between which shares of a node its load should stay, in percent by resource, and the amounts of
// one node that follow from them.
//
// Absolute: q = trunc(percent · 0.01 · capacity), in doubles as the reference multiplies them, so
// that 29 % of 100 000 m is 28 999 m. Deviation: the percentages are distances from the average of
// all nodes with fresh metrics.
//
// A resource without a low bound is not limited: its low and high become the whole node. Memory
// always takes part. Pure functions, any thread.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "descheduler/load/scale.h"

namespace mangrove::descheduler {

using Percents = std::map<std::string, double>;

struct Bounds {
  Percents low, high, prodLow, prodHigh;
  bool deviation = false;
  bool hasProd() const { return !prodLow.empty() || !prodHigh.empty(); }
};

// Every resource of every map gets a low and a high in both pairs.
Bounds completed(const Bounds& bounds);
// All resources that take part, and the number of pods.
Scale scaleOf(const Bounds& completed);

struct Limits {
  Loads low, high, prodLow, prodHigh;  // of what is not limited: -1, never reached
};

struct NodeLoad;
// Sets `limits` of every node.
void setLimits(std::vector<NodeLoad>& nodes, const Bounds& completed, const Scale& scale);

int64_t shareOf(double percent, int64_t capacity);

}  // namespace mangrove::descheduler
