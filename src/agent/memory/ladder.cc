#include "agent/memory/ladder.h"

#include <algorithm>
#include <numeric>

namespace mangrove::agent {
namespace {

// The last pages are in use all the time; taking them brings them back at once.
constexpr int64_t kTakePercent = 90;
constexpr Bytes kWorthwhile = kMiB;
constexpr Bytes kWorthALoss = kMiB * 8;

using Order = std::vector<size_t>;

Order byPriority(std::span<const BatchGroup> groups) {
  Order order(groups.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (groups[a].priority != groups[b].priority) return groups[a].priority < groups[b].priority;
    return groups[a].file > groups[b].file;
  });
  return order;
}

Bytes comingBack(std::span<const BatchGroup> groups) {
  Bytes sum;
  for (const BatchGroup& group : groups)
    if (group.leaving) sum += group.current;
  return sum;
}

// The mild rungs of one group; returns what they are expected to free.
Bytes addMild(const LadderInputs& in, size_t index, Bytes missing, std::vector<Rung>& out) {
  const BatchGroup& group = in.groups[index];
  const Bytes most = reclaimable(group, in.there.swap) * kTakePercent / 100;
  if (group.leaving || most < kWorthwhile) return {};
  const Bytes give = std::min(most, missing);
  const auto usable = [&](RungKind kind, bool there) { return there && !group.has(kind); };
  Bytes expected;
  if (usable(RungKind::kHigh, in.there.high))
    out.push_back({RungKind::kHigh, index, give}), expected = give;
  if (usable(RungKind::kReclaim, in.there.reclaim))
    out.push_back({RungKind::kReclaim, index, std::min(give, in.step)}), expected = give;
  if (usable(RungKind::kLimit, in.there.limit))
    out.push_back({RungKind::kLimit, index, std::min(give, in.step)}), expected = give;
  return expected;
}

void addFreezes(const LadderInputs& in, const Order& order, std::vector<Rung>& out) {
  if (!in.there.freeze) return;
  for (size_t index : order) {
    const BatchGroup& group = in.groups[index];
    const bool helps = group.growing && !group.frozen && !group.leaving;
    if (helps && !group.has(RungKind::kFreeze)) out.push_back({RungKind::kFreeze, index, {}});
  }
}

// Nobody loses their work for a few megabytes.
bool canGo(const BatchGroup& group, Bytes missing) {
  return group.evictable && !group.leaving && group.current >= kWorthALoss &&
         group.current * 10 >= missing && !group.has(RungKind::kEvict);
}

// Of those of one priority: the cheapest that alone suffices, else the one that frees most.
size_t nextToGo(std::span<const BatchGroup> groups, const Order& left, Bytes missing) {
  const auto better = [&](size_t a, size_t b) {
    const bool ea = groups[a].current >= missing, eb = groups[b].current >= missing;
    if (ea != eb) return ea;
    return ea ? groups[a].work < groups[b].work : groups[a].current > groups[b].current;
  };
  return *std::min_element(left.begin(), left.end(), better);
}

}  // namespace

std::string_view rungName(RungKind kind) {
  constexpr std::string_view kNames[] = {"high", "reclaim", "limit", "freeze", "evict"};
  return kNames[static_cast<size_t>(kind)];
}

Bytes reclaimable(const BatchGroup& group, bool swap) {
  return swap ? group.file + group.anonymous : group.file;
}

std::vector<size_t> leastLoss(std::span<const BatchGroup> groups, Bytes missing) {
  Order left, gone;
  for (size_t i = 0; i < groups.size(); ++i)
    if (canGo(groups[i], missing)) left.push_back(i);
  Bytes freed;
  while (freed < missing && !left.empty()) {
    int64_t lowest = groups[left.front()].priority;
    for (size_t i : left) lowest = std::min(lowest, groups[i].priority);
    Order class_;
    std::copy_if(left.begin(), left.end(), std::back_inserter(class_),
                 [&](size_t i) { return groups[i].priority == lowest; });
    const size_t next = nextToGo(groups, class_, missing - freed);
    gone.push_back(next);
    freed += groups[next].current;
    std::erase(left, next);
  }
  // A later, larger one may have made an earlier one needless; the dearest is spared first.
  Order dearest = gone;
  std::sort(dearest.begin(), dearest.end(), [&](size_t a, size_t b) {
    return std::pair(groups[a].priority, groups[a].work) >
           std::pair(groups[b].priority, groups[b].work);
  });
  for (size_t i : dearest)
    if (freed - groups[i].current >= missing) freed -= groups[i].current, std::erase(gone, i);
  return gone;
}

std::vector<Rung> climb(const LadderInputs& in) {
  std::vector<Rung> out;
  Bytes missing = in.wanted - comingBack(in.groups);
  if (missing.v <= 0) return out;
  const Order order = byPriority(in.groups);
  for (size_t index : order) {
    if (missing.v <= 0) return out;
    missing -= addMild(in, index, missing, out);
  }
  if (missing.v <= 0) return out;
  addFreezes(in, order, out);
  if (!in.there.evict || missing < kWorthwhile) return out;
  for (size_t index : leastLoss(in.groups, missing))
    out.push_back({RungKind::kEvict, index, in.groups[index].current});
  return out;
}

}  // namespace mangrove::agent
