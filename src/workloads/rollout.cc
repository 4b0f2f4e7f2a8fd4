#include "workloads/rollout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mangrove::workloads {
namespace {

std::vector<int32_t> sizesOf(const RolloutSets& sets) {
  std::vector<int32_t> sizes{sets.fresh.wanted};
  for (const auto& set : sets.old) sizes.push_back(set.wanted);
  return sizes;
}

int32_t total(const std::vector<int32_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), 0);
}

// Takes up to `budget` replicas that are not available anyway; returns how many it took.
int32_t dropUnhealthy(const RolloutSets& sets, int32_t budget, std::vector<int32_t>& sizes) {
  int32_t taken = 0;
  for (size_t i = 0; i < sets.old.size() && taken < budget; ++i) {
    const int32_t unhealthy = std::max(0, sizes[i + 1] - sets.old[i].available);
    const int32_t now = std::min(unhealthy, budget - taken);
    sizes[i + 1] -= now;
    taken += now;
  }
  return taken;
}

void shrinkOld(const RolloutSets& sets, int32_t spare, std::vector<int32_t>& sizes) {
  for (size_t i = 0; i < sets.old.size() && spare > 0; ++i) {
    const int32_t now = std::min(sizes[i + 1], spare);
    sizes[i + 1] -= now;
    spare -= now;
  }
}

int32_t availableIn(const RolloutSets& sets) {
  int32_t sum = sets.fresh.available;
  for (const auto& set : sets.old) sum += set.available;
  return sum;
}

// The change that keeps a set's share of the ceiling, rounded, and within what is left to give.
int32_t shareOf(const SetSize& set, const RolloutGoal& goal, int32_t left) {
  const int32_t ceiling = goal.replicas + goal.surge;
  const int32_t before = set.ceilingThen > 0 ? set.ceilingThen : ceiling;
  const double size = std::round(double(set.wanted) * ceiling / before);
  const auto change = static_cast<int32_t>(size) - set.wanted;
  return left > 0 ? std::clamp(change, 0, left) : std::clamp(change, left, 0);
}

}  // namespace

int32_t firstSize(int32_t others, const RolloutGoal& goal) {
  return std::clamp(goal.replicas + goal.surge - others, 0, goal.replicas);
}

std::vector<int32_t> rollingStep(const RolloutSets& sets, const RolloutGoal& goal) {
  std::vector<int32_t> sizes = sizesOf(sets);
  const int32_t all = total(sizes);
  if (sizes[0] > goal.replicas) {
    sizes[0] = goal.replicas;
    return sizes;
  }
  const int32_t room = goal.replicas + goal.surge - all;
  if (sizes[0] < goal.replicas && room > 0) {
    sizes[0] += std::min(room, goal.replicas - sizes[0]);
    return sizes;
  }
  const int32_t floor = goal.replicas - goal.unavailable;
  const int32_t notThereYet = std::max(0, sets.fresh.wanted - sets.fresh.available);
  const int32_t budget = all - floor - notThereYet;
  if (budget <= 0) return sizes;
  dropUnhealthy(sets, budget, sizes);
  shrinkOld(sets, availableIn(sets) - floor, sizes);
  return sizes;
}

std::vector<int32_t> proportionalStep(const RolloutSets& sets, const RolloutGoal& goal) {
  std::vector<int32_t> sizes = sizesOf(sets);
  const bool saturated =
      sets.fresh.wanted == goal.replicas && sets.fresh.available == goal.replicas;
  if (saturated) {
    std::fill(sizes.begin() + 1, sizes.end(), 0);
    return sizes;
  }
  const auto active = std::count_if(sizes.begin(), sizes.end(), [](int32_t n) { return n > 0; });
  if (active <= 1) {
    const auto at = std::max_element(sizes.begin(), sizes.end());  // none active: the new one
    *at = goal.replicas;
    return sizes;
  }
  const int32_t allowed = goal.replicas > 0 ? goal.replicas + goal.surge : 0;
  int32_t left = allowed - total(sizes);
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sizes[a] > sizes[b]; });
  for (size_t at : order) {
    if (left == 0 || sizes[at] == 0) continue;
    const int32_t change = shareOf(at == 0 ? sets.fresh : sets.old[at - 1], goal, left);
    sizes[at] += change;
    left -= change;
  }
  sizes[order.front()] = std::max(0, sizes[order.front()] + left);  // what rounding left over
  return sizes;
}

}  // namespace mangrove::workloads
