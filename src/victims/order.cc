#include "victims/order.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/core.h>

#include "base/check.h"

namespace mangrove::victims {
namespace {

// A candidate or a whole gang.
struct Unit {
  std::vector<size_t> members;
  int rank = std::numeric_limits<int>::min();
  int32_t priority = std::numeric_limits<int32_t>::min();
  int evictedToday = 0;
  bool carries = false;
  bool spared = false;
  bool alone = true;
  Cost cost;
  Amounts frees;
  auto level() const {
    return std::tuple(rank, evictedToday >= kEvictionsPerDay, priority, carries);
  }
};

void join(Unit& unit, const Candidate& member, size_t index, const Cost& cost) {
  unit.members.push_back(index);
  // The highest member decides, by class first: a low priority of a high class is the higher one.
  std::tie(unit.rank, unit.priority) =
      std::max(std::tuple(unit.rank, unit.priority), std::tuple(member.rank, member.priority));
  unit.evictedToday = std::max(unit.evictedToday, member.evictedToday);
  unit.carries = unit.carries || member.carries;
  unit.spared = unit.spared || member.spared;
  unit.cost = unit.cost + cost;
  unit.frees.resize(std::max(unit.frees.size(), member.frees.size()), 0);
  for (size_t i = 0; i < member.frees.size(); ++i) unit.frees[i] += member.frees[i];
}

using Gangs = std::set<std::string_view>;

// `whole`: gangs with surplus members that leave whole or not at all; of others that have such
// members only those may leave.
std::vector<Unit> unitsOf(std::span<const Candidate> candidates, const Request& request,
                          const Gangs& slack, const Gangs& whole) {
  const std::vector<Cost> cost = costs(candidates, request.now, request.usual, request.gpuWeight);
  std::vector<Unit> units;
  std::map<std::string_view, size_t> gangs;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& one = candidates[i];
    const bool lent = slack.contains(one.gang) && !whole.contains(one.gang);
    if (lent && !one.surplus) continue;
    size_t at = units.size();
    if (!one.gang.empty() && !lent) at = gangs.try_emplace(one.gang, at).first->second;
    if (at == units.size()) units.emplace_back();
    units[at].alone = one.gang.empty() || lent;
    join(units[at], one, i, cost[i]);
  }
  std::erase_if(units, [](const Unit& unit) { return unit.spared; });
  std::stable_sort(units.begin(), units.end(),
                   [](const Unit& a, const Unit& b) { return a.level() < b.level(); });
  return units;
}

// Answers for sets of units whether they free the need, and then whether the caller agrees.
class Judge {
 public:
  Judge(const std::vector<Unit>& units, const Request& request)
      : units_(units), request_(request) {}

  bool enough(std::span<const size_t> chosen) const {
    for (size_t i = 0; i < request_.need.size(); ++i) {
      if (freed(chosen, i) < request_.need[i]) return false;
    }
    if (request_.need.empty() && !request_.suffices) return chosen.size() == units_.size();
    return !request_.suffices || request_.suffices(membersOf(chosen));
  }

 private:
  double freed(std::span<const size_t> chosen, size_t resource) const {
    double sum = 0;
    for (const size_t unit : chosen) {
      if (resource < units_[unit].frees.size()) sum += units_[unit].frees[resource];
    }
    return sum;
  }
  std::vector<size_t> membersOf(std::span<const size_t> chosen) const {
    std::vector<size_t> out;
    for (const size_t unit : chosen) {
      out.insert(out.end(), units_[unit].members.begin(), units_[unit].members.end());
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  const std::vector<Unit>& units_;
  const Request& request_;
};

struct Level {
  size_t begin;
  size_t end;
};
std::vector<Level> levelsOf(const std::vector<Unit>& units) {
  std::vector<Level> levels;
  for (size_t i = 0; i < units.size(); ++i) {
    if (levels.empty() || units[i].level() != units[levels.back().begin].level()) {
      levels.push_back({i, i});
    }
    levels.back().end = i + 1;
  }
  return levels;
}

std::vector<size_t> firstUnits(size_t count) {
  std::vector<size_t> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = i;
  return out;
}

// What a level must add once all lower units and the chosen higher ones have left.
Amounts stillMissing(const std::vector<Unit>& units, const Amounts& need,
                     std::span<const size_t> others) {
  Amounts missing = need;
  for (const size_t unit : others) {
    for (size_t i = 0; i < missing.size() && i < units[unit].frees.size(); ++i) {
      missing[i] = std::max(0.0, missing[i] - units[unit].frees[i]);
    }
  }
  return missing;
}

// From the level that decides downwards: in each the cheapest set that suffices together with what
// was chosen above and all that lies below. A unit of a level that could be left out could have been
// left out while more units below were taken; so at the end nobody can.
std::vector<size_t> fromTopDown(const std::vector<Unit>& units, std::span<const Level> levels,
                                const Request& request, const Judge& judge) {
  std::vector<size_t> chosen;
  for (size_t i = levels.size(); i-- > 0;) {
    std::vector<size_t> others = firstUnits(levels[i].begin);
    others.insert(others.end(), chosen.begin(), chosen.end());
    std::vector<Item> items;
    for (size_t u = levels[i].begin; u < levels[i].end; ++u) {
      items.push_back({units[u].cost.total(), units[u].frees});
    }
    const auto best = leastCost(items, stillMissing(units, request.need, others),
                                [&](std::span<const size_t> part) {
                                  std::vector<size_t> all = others;
                                  for (const size_t p : part) all.push_back(levels[i].begin + p);
                                  return judge.enough(all);
                                });
    CHECK(best.has_value(), "{} levels suffice, and level {} has no set that does", levels.size(),
          i);
    for (const size_t p : *best) chosen.push_back(levels[i].begin + p);
  }
  return chosen;
}

std::vector<size_t> choose(const std::vector<Unit>& units, const Request& request,
                           const Judge& judge, bool& enough) {
  const std::vector<Level> levels = levelsOf(units);
  for (size_t count = 0; count <= levels.size(); ++count) {
    const size_t lower = count == 0 ? 0 : levels[count - 1].end;
    if (!judge.enough(firstUnits(lower))) continue;
    enough = true;
    return fromTopDown(units, std::span(levels).first(count), request, judge);
  }
  return request.evenIfShort ? firstUnits(units.size()) : std::vector<size_t>{};
}

double gainOf(const Unit& unit, const Amounts& need) {
  double sum = 0;
  for (size_t i = 0; i < need.size() && i < unit.frees.size(); ++i) {
    if (need[i] > 0) sum += std::min(unit.frees[i], need[i]) / need[i];
  }
  return sum;
}

// The one of those who stay that comes first in the order; nullptr when nobody stays.
const Unit* nextOf(const std::vector<Unit>& units, const std::vector<size_t>& chosen,
                   const Amounts& need) {
  const auto bid = [&](const Unit& unit) {
    const double gain = gainOf(unit, need);
    const double price =
        gain > 0 ? unit.cost.total() / gain : std::numeric_limits<double>::infinity();
    return std::tuple(unit.level(), price, unit.cost.total());
  };
  const Unit* best = nullptr;
  for (size_t i = 0; i < units.size(); ++i) {
    if (std::find(chosen.begin(), chosen.end(), i) != chosen.end()) continue;
    if (best == nullptr || bid(units[i]) < bid(*best)) best = &units[i];
  }
  return best;
}

std::string nameOf(const Unit& unit, std::span<const Candidate> candidates) {
  const Candidate& first = candidates[unit.members.front()];
  if (unit.alone) return first.name;
  return fmt::format("gang {} ({} pods)", first.gang, unit.members.size());
}

}  // namespace

std::vector<size_t> Choice::candidates() const {
  std::vector<size_t> out;
  for (const Leaver& leaver : leavers) {
    out.insert(out.end(), leaver.members.begin(), leaver.members.end());
  }
  return out;
}

namespace {

// A choice, and what it takes from whom it should spare first.
struct Bid {
  Choice choice;
  std::tuple<int, bool, int32_t, bool> highest;
  double highestCost = 0;
  bool isBetterThan(const Bid& other) const {
    if (choice.enough != other.choice.enough) return choice.enough;
    if (!choice.enough) return choice.candidates().size() > other.choice.candidates().size();
    const auto key = [](const Bid& bid) {
      return std::tuple(bid.highest, bid.highestCost, bid.choice.cost.total(),
                        bid.choice.candidates().size());
    };
    return key(*this) < key(other);
  }
};

Bid bidOf(std::span<const Candidate> candidates, const Request& request, const Gangs& slack,
          const Gangs& whole) {
  const std::vector<Unit> units = unitsOf(candidates, request, slack, whole);
  Bid bid;
  bid.highest = {std::numeric_limits<int>::min(), false, 0, false};
  Choice& choice = bid.choice;
  std::vector<size_t> chosen = choose(units, request, Judge(units, request), choice.enough);
  const Unit* next = nextOf(units, chosen, request.need);
  std::stable_sort(chosen.begin(), chosen.end(), [&](size_t a, size_t b) {
    return std::tuple(units[a].level(), units[a].cost.total(), a) <
           std::tuple(units[b].level(), units[b].cost.total(), b);
  });
  for (const size_t unit : chosen) {
    Leaver leaver{nameOf(units[unit], candidates), units[unit].members, units[unit].cost, {}, {}};
    if (next != nullptr) {
      leaver.nextName = nameOf(*next, candidates);
      leaver.nextCost = next->cost;
    }
    if (units[unit].level() > bid.highest) bid.highestCost = 0;
    bid.highest = std::max(bid.highest, units[unit].level());
    if (units[unit].level() == bid.highest) bid.highestCost += leaver.cost.total();
    choice.cost = choice.cost + leaver.cost;
    choice.leavers.push_back(std::move(leaver));
  }
  return bid;
}

// Gangs that are listed with surplus members; `open`: those of which the others are listed too.
Gangs gangsWithSurplus(std::span<const Candidate> candidates, std::vector<std::string_view>& open) {
  Gangs slack, core;
  for (const Candidate& one : candidates)
    if (!one.gang.empty()) (one.surplus ? slack : core).insert(one.gang);
  std::set_intersection(slack.begin(), slack.end(), core.begin(), core.end(),
                        std::back_inserter(open));
  return slack;
}

// Which of them leave whole: every way for a few; for many all, none and each by itself.
std::vector<Gangs> waysToGo(const std::vector<std::string_view>& open, const Request& request) {
  constexpr size_t kFew = 4;
  if (request.need.empty() && !request.suffices) return {Gangs(open.begin(), open.end())};
  std::vector<Gangs> ways;
  if (open.size() <= kFew) {
    for (size_t bits = 0; bits < size_t{1} << open.size(); ++bits) {
      Gangs& whole = ways.emplace_back();
      for (size_t i = 0; i < open.size(); ++i)
        if (((bits >> i) & 1) != 0) whole.insert(open[i]);
    }
    return ways;
  }
  ways = {Gangs(), Gangs(open.begin(), open.end())};
  for (const std::string_view gang : open) ways.push_back({gang});
  return ways;
}

}  // namespace

Choice chooseVictims(std::span<const Candidate> candidates, const Request& request) {
  std::vector<std::string_view> open;
  const Gangs slack = gangsWithSurplus(candidates, open);
  std::optional<Bid> best;
  for (const Gangs& whole : waysToGo(open, request)) {
    Bid bid = bidOf(candidates, request, slack, whole);
    if (!best || bid.isBetterThan(*best)) best = std::move(bid);
  }
  return std::move(best->choice);
}

std::string sentence(const Leaver& leaver) {
  std::string text = fmt::format("loses {:.0f} core seconds of work and {:.0f} for its restart",
                                 leaver.cost.lost, leaver.cost.restart);
  if (leaver.nextName.empty()) return text + "; nobody else could have gone";
  return text + fmt::format("; {} would have lost {:.0f} and {:.0f}", leaver.nextName,
                            leaver.nextCost.lost, leaver.nextCost.restart);
}

}  // namespace mangrove::victims
