#include "descheduler/plan/movable.h"

#include <algorithm>
#include <functional>

#include "stakes/stake.h"
#include "victims/cost.h"

namespace mangrove::descheduler {

std::vector<MovablePod> movablePods(std::span<const AtStake> pods, WallTime now) {
  std::vector<victims::Candidate> candidates;
  candidates.reserve(pods.size());
  for (const AtStake& one : pods) {
    stakes::Known known;
    if (one.cores) known.work = stakes::Work{*one.cores, 0};
    candidates.push_back(stakes::candidateOf(*one.pod, known));
  }
  const std::vector<victims::Cost> costs = victims::costs(candidates, now);
  std::vector<MovablePod> out;
  out.reserve(pods.size());
  for (size_t i = 0; i < pods.size(); ++i)
    out.push_back({pods[i].frees, pods[i].needs, candidates[i].rank, candidates[i].priority,
                   costs[i].total()});
  return out;
}

void Loss::add(const MovablePod& pod) {
  const std::pair<int, int32_t> one{pod.rank, pod.priority};
  ranks_.insert(std::upper_bound(ranks_.begin(), ranks_.end(), one, std::greater<>()), one);
  cost_ += pod.cost;
}

bool Loss::operator<(const Loss& other) const {
  if (ranks_ != other.ranks_) return ranks_ < other.ranks_;
  return cost_ < other.cost_;
}

}  // namespace mangrove::descheduler
