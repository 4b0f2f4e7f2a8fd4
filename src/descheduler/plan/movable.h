#pragma once
// A pod as plans weigh it: what its leaving frees, what its coming needs, and what it loses by it, in
// the terms of everybody who throws work out (stakes/stake.h, victims/cost.h).
//
//   std::vector<MovablePod> pods = movablePods(atStake, look.now());
//   Loss loss;
//   for (const MovablePod& pod : pods) loss.add(pod);
//
// Pure functions, any thread.

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "api/pod/pod.h"
#include "descheduler/load/scale.h"

namespace mangrove::descheduler {

struct MovablePod {
  Loads frees;  // what its source is rid of
  Loads needs;  // what its target must bear
  int rank = 0;
  int32_t priority = 0;
  double cost = 0;  // core seconds
};

struct AtStake {
  const api::Pod* pod = nullptr;
  Loads frees, needs;
  std::optional<double> cores = {};  // that it works with; nullopt: those it asks for
};
// In their order. Who is silent about his work counts as the others of his kind among them.
std::vector<MovablePod> movablePods(std::span<const AtStake> pods, WallTime now);

// What a set of moves loses: whose class and priority is highest counts first, then the work.
class Loss {
 public:
  void add(const MovablePod& pod);
  bool operator<(const Loss& other) const;

 private:
  std::vector<std::pair<int, int32_t>> ranks_;  // descending
  double cost_ = 0;
};

}  // namespace mangrove::descheduler
