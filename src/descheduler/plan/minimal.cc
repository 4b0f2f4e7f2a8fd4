#include "descheduler/plan/minimal.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>

#include "descheduler/load/node_load.h"

namespace mangrove::descheduler {
namespace {

// The fewest of pods[from…] whose sum reaches `excess`, resource by resource.
size_t fewest(std::span<const MovablePod> pods, const Loads& excess) {
  size_t most = 0;
  std::vector<int64_t> amounts;
  for (size_t r = 0; r < excess.size(); ++r) {
    int64_t missing = excess[r];
    if (missing <= 0) continue;
    amounts.clear();
    for (const MovablePod& pod : pods) amounts.push_back(pod.frees[r]);
    std::sort(amounts.begin(), amounts.end(), std::greater<>());
    size_t count = 0;
    while (missing > 0 && count < amounts.size()) missing -= amounts[count++];
    if (missing > 0) return kNever;
    most = std::max(most, count);
  }
  return most;
}

bool isCovered(const Loads& excess) {
  return std::all_of(excess.begin(), excess.end(), [](int64_t left) { return left <= 0; });
}

bool holds(const Room& room, const Loads& needs) {
  for (size_t r = 0; r < room.size(); ++r)
    if (room[r] != kUnlimited && needs[r] > room[r]) return false;
  return true;
}
void take(Room& room, const Loads& needs, int sign) {
  for (size_t r = 0; r < room.size(); ++r)
    if (room[r] != kUnlimited) room[r] -= sign * needs[r];
}

// All plans of exactly `count` moves for some sources, the least loss kept.
class Search {
 public:
  Search(std::span<const HotSource> sources, std::vector<size_t> which, std::vector<Room> rooms,
         const FitsOn& fits, uint64_t& budget)
      : sources_(sources),
        which_(std::move(which)),
        rooms_(std::move(rooms)),
        fits_(fits),
        budget_(budget) {
    rest_.assign(which_.size() + 1, 0);
    for (size_t i = which_.size(); i-- > 0;)
      rest_[i] = rest_[i + 1] + fewestThatCover(sources_[which_[i]]);
  }

  std::optional<std::vector<CoverMove>> run() {
    size_t most = 0;
    for (const size_t s : which_) most += sources_[s].pods.size();
    for (size_t count = rest_[0]; count <= most && budget_ > 0; ++count) {
      visit(0, 0, excessOf(0), count);
      if (best_) return best_;
    }
    return std::nullopt;
  }

 private:
  Loads excessOf(size_t at) const {
    return at < which_.size() ? sources_[which_[at]].excess : Loads();
  }

  void visit(size_t at, size_t from, const Loads& excess, size_t left) {
    if (budget_ == 0) return;
    --budget_;
    if (at == which_.size()) return keep();
    const HotSource& source = sources_[which_[at]];
    if (isCovered(excess)) return visit(at + 1, 0, excessOf(at + 1), left);
    const std::span<const MovablePod> pods(source.pods);
    for (size_t pod = from; pod < pods.size(); ++pod) {
      const size_t needed = fewest(pods.subspan(pod), excess);
      if (needed == kNever || needed + rest_[at + 1] > left) return;
      Loads after = excess;
      subtract(after, pods[pod].frees);
      place(at, pod, after, left - 1);
    }
  }

  // Targets that are alike for this pod are tried once.
  void place(size_t at, size_t pod, const Loads& after, size_t left) {
    const MovablePod& moved = sources_[which_[at]].pods[pod];
    std::vector<size_t> tried;
    for (size_t target = 0; target < rooms_.size(); ++target) {
      if (!holds(rooms_[target], moved.needs) || !fits_(which_[at], pod, target)) continue;
      const bool alike = std::any_of(tried.begin(), tried.end(), [&](size_t other) {
        return rooms_[other] == rooms_[target] && areAlike(at, pod, other, target);
      });
      if (alike) continue;
      if (rooms_.size() > kFewTargets && !tried.empty()) return;
      tried.push_back(target);
      take(rooms_[target], moved.needs, 1);
      moves_.push_back({which_[at], pod, target});
      visit(at, pod + 1, after, left);
      moves_.pop_back();
      take(rooms_[target], moved.needs, -1);
    }
  }

  // For those that may still come: whoever fits on one fits on the other.
  bool areAlike(size_t at, size_t from, size_t a, size_t b) const {
    for (size_t s = at; s < which_.size(); ++s) {
      const size_t count = sources_[which_[s]].pods.size();
      for (size_t pod = s == at ? from : 0; pod < count; ++pod)
        if (fits_(which_[s], pod, a) != fits_(which_[s], pod, b)) return false;
    }
    return true;
  }

  void keep() {
    Loss loss;
    for (const CoverMove& move : moves_) loss.add(sources_[move.source].pods[move.pod]);
    if (best_ && !(loss < least_)) return;
    best_ = moves_;
    least_ = std::move(loss);
  }

  std::span<const HotSource> sources_;
  std::vector<size_t> which_;
  std::vector<Room> rooms_;
  const FitsOn& fits_;
  uint64_t& budget_;
  std::vector<size_t> rest_;  // fewest moves of which_[i…]
  std::vector<CoverMove> moves_;
  std::optional<std::vector<CoverMove>> best_;
  Loss least_;
};

struct Planner {
  std::span<const HotSource> sources;
  std::vector<Room> rooms;
  const FitsOn& fits;
  uint64_t budget;
  MinimalPlan plan;

  void adopt(const std::vector<CoverMove>& moves) {
    for (const CoverMove& move : moves) {
      take(rooms[move.target], sources[move.source].pods[move.pod].needs, 1);
      plan.moves.push_back(move);
    }
  }
  std::optional<std::vector<CoverMove>> search(const std::vector<size_t>& which, uint64_t most) {
    uint64_t left = most;
    auto found = Search(sources, which, rooms, fits, left).run();
    if (left == 0) plan.isOptimal = false;
    return found;
  }

  // The largest set of sources that can all be relieved; of equally large ones the one with fewest
  // moves.
  void together(const std::vector<size_t>& which) {
    for (size_t size = which.size(); size > 0; --size) {
      std::optional<std::vector<CoverMove>> best;
      std::vector<size_t> chosen;
      for (uint32_t mask = 1; mask < (1U << which.size()); ++mask) {
        if (static_cast<size_t>(std::popcount(mask)) != size) continue;
        std::vector<size_t> some;
        for (size_t i = 0; i < which.size(); ++i)
          if (mask & (1U << i)) some.push_back(which[i]);
        auto found = search(some, budget);
        if (!found || (best && best->size() <= found->size())) continue;
        best = std::move(found);
        chosen = std::move(some);
      }
      if (!best) continue;
      adopt(*best);
      for (const size_t s : which)
        if (std::find(chosen.begin(), chosen.end(), s) == chosen.end())
          plan.unrelieved.push_back(s);
      return;
    }
    plan.unrelieved.insert(plan.unrelieved.end(), which.begin(), which.end());
  }

  void inTurn(const std::vector<size_t>& which) {
    for (const size_t s : which) {
      if (auto found = search({s}, std::max<uint64_t>(1000, budget / which.size())))
        adopt(*found);
      else
        plan.unrelieved.push_back(s);
    }
  }
};

}  // namespace

size_t fewestThatCover(const HotSource& source) {
  return fewest(source.pods, source.excess);
}

MinimalPlan minimalPlan(std::span<const HotSource> sources, std::span<const Room> targets,
                        const FitsOn& fits, uint64_t budget) {
  Planner planner{sources, {targets.begin(), targets.end()}, fits, budget, {}};
  std::vector<size_t> which;
  for (size_t s = 0; s < sources.size(); ++s) {
    const size_t few = fewestThatCover(sources[s]);
    if (few == kNever) {
      planner.plan.unrelieved.push_back(s);
      continue;
    }
    planner.plan.lowerBound += few;
    which.push_back(s);
  }
  if (which.size() <= kPlannedTogether)
    planner.together(which);
  else
    planner.inTurn(which);
  std::sort(planner.plan.unrelieved.begin(), planner.plan.unrelieved.end());
  return std::move(planner.plan);
}

void keepWithin(MinimalPlan& plan, size_t moves) {
  if (plan.moves.size() <= moves) return;
  std::map<size_t, size_t> counts;  // by source
  for (const CoverMove& move : plan.moves) ++counts[move.source];
  std::vector<std::pair<size_t, size_t>> order;  // count, source
  for (const auto& [source, count] : counts) order.emplace_back(count, source);
  std::sort(order.begin(), order.end());
  std::set<size_t> served;
  for (const auto& [count, source] : order) {
    if (count > moves) break;
    moves -= count;
    served.insert(source);
  }
  std::erase_if(plan.moves, [&](const CoverMove& move) { return !served.contains(move.source); });
  for (const auto& [source, count] : counts)
    if (!served.contains(source)) plan.unrelieved.push_back(source);
  std::sort(plan.unrelieved.begin(), plan.unrelieved.end());
}

}  // namespace mangrove::descheduler
