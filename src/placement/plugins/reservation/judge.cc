#include "placement/plugins/reservation/judge.h"

#include <algorithm>

namespace mangrove::placement {
namespace {

// What a trial of preemption has taken away is not in the books already, so nothing is preemptible
// here.
ReservedRoom roomOf(const ReservationEntry& entry) {
  ReservedRoom out = entry.room;
  out.name = entry.name;
  return out;
}

}  // namespace

std::vector<PodPtr> standInsOf(std::span<const ReservationPtr> entries) {
  std::vector<PodPtr> out;
  for (const ReservationPtr& entry : entries)
    if (entry->standIn) out.push_back(entry->standIn);
  return out;
}

GivenBack::GivenBack(Cluster& cluster, std::span<const PodPtr> pods) : cluster_(cluster) {
  for (const PodPtr& pod : pods) {
    if (pod->row == kNoRow) continue;
    taken_.emplace_back(pod, pod->row);
    cluster_.trialRemove(pod);
  }
}

GivenBack::~GivenBack() {
  for (auto at = taken_.rbegin(); at != taken_.rend(); ++at)
    cluster_.trialAdd(at->first, at->second);
}

NodeRoom roomOfNode(const Cluster& cluster, Row row, const Amounts& request,
                    const ReservationArgs& args) {
  const NodeTable& table = cluster.table;
  const api::ResourceNames& known = api::resourceNames();
  NodeRoom out;
  const auto add = [&](Interned name) {
    if (args.isIgnored(name.view())) return out.ignored.push_back(name);
    const ResourceId id = const_cast<NodeTable&>(table).resources().of(name);
    out.allocatable.set(name, table.allocatable(id)[row]);
    out.requested.set(name, table.requested(id)[row]);
  };
  for (Interned name : {known.cpu, known.memory, known.ephemeralStorage}) add(name);
  for (const auto& [name, amount] : request) add(name);
  out.pods = table.podCount()[row];
  out.allowedPods = table.podLimit()[row];
  return out;
}

// The books count a reservation as what is left of it; the rules are worded for books that count it
// whole and its owners beside it.
FitVerdict ReservationJudge::fit(const PodPlan& plan, const ReservationPlan& mine, Row row) const {
  const auto matched = mine.matches.on(row);
  NodeRoom node = roomOfNode(cluster_, row, mine.request, args_);
  std::vector<ReservedRoom> rooms;
  for (const ReservationPtr& entry : matched) {
    rooms.push_back(roomOf(*entry));
    node.requested.add(rooms.back().allocatable);
    node.pods++;
  }
  FitAsk ask{mine.request, mine.mustReserve(), ""};
  if (mine.mustReserve()) ask.onlyName = mine.claim->affinity->name;
  FitVerdict out = fitReserved(node, rooms, ask);
  std::erase_if(out.usable, [&](size_t i) {
    return !std::ranges::all_of(
        reservables_, [&](Reservable* part) { return part->fitsIn(plan, row, *matched[i]); });
  });
  if (out.pass && out.usable.empty() && mine.mustReserve()) {
    out.pass = false;
    out.reasons.emplace_back("Reservation(s) cannot serve the pod's CPUs or devices");
  }
  return out;
}

int64_t ReservationJudge::score(const PodPlan& plan, const ReservationPlan& mine, Row row,
                                const ReservationEntry& entry) const {
  int64_t sum = scoreOf(entry.room, mine.request);
  for (Reservable* part : reservables_) sum += part->scoreIn(plan, row, entry);
  return sum;
}

ReservationPtr ReservationJudge::nominate(const PodPlan& plan, const ReservationPlan& mine,
                                          Row row) const {
  const auto matched = mine.matches.on(row);
  if (matched.empty()) return nullptr;
  std::vector<PodPtr> away = standInsOf(matched);
  for (const PodPtr& pod : standInsOf(mine.matches.until(row))) away.push_back(pod);
  const GivenBack given(cluster_, away);
  ReservationPtr best;
  int64_t bestScore = -1;
  for (size_t i : fit(plan, mine, row).usable) {
    const ReservationPtr& entry = matched[i];
    const int64_t order = entry->order, bestOrder = best ? best->order : 0;
    const int64_t value = score(plan, mine, row, *entry);
    const bool earlier = order != 0 && (bestOrder == 0 || order < bestOrder);
    const bool later = bestOrder != 0 && (order == 0 || order > bestOrder);
    if (best && !earlier && (later || value <= bestScore)) continue;
    best = entry;
    bestScore = value;
  }
  return best;
}

}  // namespace mangrove::placement
