#pragma once
// The fewest moves that bring hot nodes below their bounds, and among those the ones that lose least
// by the project's one order of victims: class, then priority, then work (victims/cost.h).
//
//   MinimalPlan plan = minimalPlan(sources, targets, fits);
//   plan.moves, plan.lowerBound, plan.unrelieved
//
// As many sources as possible are relieved. Up to six of them are planned together and the answer
// is the optimum; more are planned one after the other, each at its own optimum in what room is
// left; where targets are many the first that holds a pod is taken. A search that grows beyond its budget ends with the best it has. Pure functions, any thread.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "descheduler/plan/movable.h"

namespace mangrove::descheduler {

struct HotSource {
  Loads excess;  // what must go, of each resource; 0: nothing
  std::vector<MovablePod> pods;
};
// Room until its bound, of each resource; kUnlimited: as much as wanted.
using Room = Loads;
using FitsOn = std::function<bool(size_t source, size_t pod, size_t target)>;

struct CoverMove {
  size_t source = 0, pod = 0, target = 0;
  bool operator==(const CoverMove&) const = default;
};
struct MinimalPlan {
  std::vector<CoverMove> moves;
  size_t lowerBound = 0;           // per relievable source the fewest largest pods that cover it
  std::vector<size_t> unrelieved;  // sources for which nothing suffices
  bool isOptimal = true;           // no budget ended a search
};

inline constexpr size_t kPlannedTogether = 6;
// Among more targets than that the first that holds a pod is as good as another.
inline constexpr size_t kFewTargets = 64;
inline constexpr size_t kNever = static_cast<size_t>(-1);

// How many pods at least, whatever their targets; kNever: not even all of them.
size_t fewestThatCover(const HotSource& source);

MinimalPlan minimalPlan(std::span<const HotSource> sources, std::span<const Room> targets,
                        const FitsOn& fits, uint64_t budget = 2'000'000);

// At most so many moves are left: sources stay whole, those that need fewest moves are served first,
// and who is not served any more counts as unrelieved.
void keepWithin(MinimalPlan& plan, size_t moves);

}  // namespace mangrove::descheduler
