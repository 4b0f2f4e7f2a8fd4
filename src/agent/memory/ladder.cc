#include "agent/memory/ladder.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "victims/order.h"

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
    out.push_back({RungKind::kHigh, index, give, {}}), expected = give;
  if (usable(RungKind::kReclaim, in.there.reclaim))
    out.push_back({RungKind::kReclaim, index, std::min(give, in.step), {}}), expected = give;
  if (usable(RungKind::kLimit, in.there.limit))
    out.push_back({RungKind::kLimit, index, std::min(give, in.step), {}}), expected = give;
  return expected;
}

void addFreezes(const LadderInputs& in, const Order& order, std::vector<Rung>& out) {
  if (!in.there.freeze) return;
  for (size_t index : order) {
    const BatchGroup& group = in.groups[index];
    const bool helps = group.growing && !group.frozen && !group.leaving;
    if (helps && !group.has(RungKind::kFreeze)) out.push_back({RungKind::kFreeze, index, {}, {}});
  }
}

// Nobody loses their work for a few megabytes.
bool canGo(const BatchGroup& group, Bytes missing) {
  return group.evictable && !group.leaving && group.current >= kWorthALoss &&
         group.current * 10 >= missing && !group.has(RungKind::kEvict);
}

// A gang goes whole or not at all, so its small members are listed too; one that must stay keeps all.
std::optional<victims::Candidate> candidateOf(const BatchGroup& group, Bytes missing) {
  const bool can = canGo(group, missing);
  if (group.leaving || (!can && group.stake.gang.empty())) return std::nullopt;
  victims::Candidate out = group.stake;
  out.priority = static_cast<int32_t>(group.priority);
  out.frees = {static_cast<double>(group.current.v)};
  out.progress.measuredCpuSeconds = group.work;
  out.spared = !group.evictable || group.has(RungKind::kEvict);
  return out;
}

}  // namespace

std::string_view rungName(RungKind kind) {
  constexpr std::string_view kNames[] = {"high", "reclaim", "limit", "freeze", "evict"};
  return kNames[static_cast<size_t>(kind)];
}

Bytes reclaimable(const BatchGroup& group, bool swap) {
  return swap ? group.file + group.anonymous : group.file;
}

std::vector<Rung> leastLoss(std::span<const BatchGroup> groups, Bytes missing, WallTime now) {
  std::vector<victims::Candidate> candidates;
  std::vector<size_t> asked;
  for (size_t i = 0; i < groups.size(); ++i) {
    auto one = candidateOf(groups[i], missing);
    if (!one) continue;
    candidates.push_back(std::move(*one));
    asked.push_back(i);
  }
  std::vector<Rung> out;
  const victims::Request request{
      .need = {static_cast<double>(missing.v)}, .evenIfShort = true, .now = now};
  for (const victims::Leaver& leaver : victims::chooseVictims(candidates, request).leavers)
    for (const size_t i : leaver.members)
      out.push_back(
          {RungKind::kEvict, asked[i], groups[asked[i]].current, victims::sentence(leaver)});
  return out;
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
  for (Rung& rung : leastLoss(in.groups, missing, in.now)) out.push_back(std::move(rung));
  return out;
}

}  // namespace mangrove::agent
