#include "placement/plugins/reservation/matches.h"

#include <algorithm>
#include <limits>

#include "api/annotations/reservation.h"
#include "api/wire/names.h"
#include "placement/reservation/reserve_pod.h"

namespace mangrove::placement {
namespace {

constexpr int64_t kUnordered = std::numeric_limits<int64_t>::max();
constexpr int32_t kFirstInOrder = 1000;

bool isServed(const ReservationPlan& plan, const ReservationEntry& entry, const Cluster& cluster) {
  if (!plan.claim || plan.isStandIn || !entry.isOpen() || entry.place == kNoRow) return false;
  const api::Labels& node = cluster.table.node(entry.place).meta.labels;
  return serves(meet(*plan.claim, *entry.offer, node, entry.present()));
}

// Whether the class will be gone when it begins, or is evicted for it.
bool isTenant(const ReservationPlan& plan, const ReservationEntry& entry, WallTime now) {
  if (plan.isStandIn || !entry.waits || entry.place == kNoRow || entry.beginning.start <= now)
    return false;
  return makesWay(departureOf(plan.pod.meta.annotations, plan.pod.meta.labels, *plan.pod.spec, now),
                  entry.beginning);
}

}  // namespace

void ReservationMatches::refresh(const ReservationPlan& plan, const Cluster& cluster) {
  const ReservationBook& book = cluster.reservations;
  if (mark_ == book.now()) return;
  const auto changed = book.changedSince(mark_);
  mark_ = book.now();
  if (changed) {
    for (const api::Uid& uid : *changed) look(plan, cluster, uid);
    return;
  }
  *this = ReservationMatches();
  mark_ = book.now();
  book.each([&](const ReservationPtr& entry) { look(plan, cluster, entry->uid); });
}

void ReservationMatches::look(const ReservationPlan& plan, const Cluster& cluster,
                              const api::Uid& uid) {
  const auto was = where_.find(uid);
  const Row before = was == where_.end() ? kNoRow : was->second;
  drop(uid);
  const ReservationPtr entry = cluster.reservations.find(uid);
  Row now = kNoRow;
  if (entry && isServed(plan, *entry, cluster)) {
    now = entry->place;
    auto& there = byRow_[now].entries;
    const auto at = std::ranges::lower_bound(there, entry->name, {},
                                             [](const ReservationPtr& one) { return one->name; });
    there.insert(at, entry);
    where_[uid] = now;
  }
  lookUntil(plan, cluster, uid);
  if (before != kNoRow) rank(plan, cluster, before);
  if (now != kNoRow && now != before) rank(plan, cluster, now);
}

void ReservationMatches::lookUntil(const ReservationPlan& plan, const Cluster& cluster,
                                   const api::Uid& uid) {
  if (const auto was = untilWhere_.find(uid); was != untilWhere_.end()) {
    auto& there = until_[was->second];
    std::erase_if(there, [&](const ReservationPtr& one) { return one->uid == uid; });
    if (there.empty()) until_.erase(was->second);
    untilWhere_.erase(was);
  }
  const ReservationPtr entry = cluster.reservations.find(uid);
  if (!entry || !isTenant(plan, *entry, cluster.reservations.time())) return;
  until_[entry->place].push_back(entry);
  untilWhere_[uid] = entry->place;
}

std::span<const ReservationPtr> ReservationMatches::until(Row row) const {
  const auto at = until_.find(row);
  if (at == until_.end()) return {};
  return at->second;
}

std::vector<Row> ReservationMatches::restoredRows() const {
  std::vector<Row> out = rows();
  for (const auto& [row, there] : until_)
    if (!isOn(row)) out.push_back(row);
  return out;
}

void ReservationMatches::drop(const api::Uid& uid) {
  const auto at = where_.find(uid);
  if (at == where_.end()) return;
  std::erase_if(byRow_[at->second].entries,
                [&](const ReservationPtr& one) { return one->uid == uid; });
  where_.erase(at);
}

void ReservationMatches::rank(const ReservationPlan& plan, const Cluster& cluster, Row row) {
  const auto at = byRow_.find(row);
  if (at == byRow_.end()) return;
  ranks_.erase(at->second.rank);
  if (at->second.entries.empty()) {
    byRow_.erase(at);
    return;
  }
  Rank rank{kUnordered, 0, cluster.table.nameHash()[row], row};
  for (const ReservationPtr& entry : at->second.entries) {
    if (entry->order != 0) rank.order = std::min(rank.order, entry->order);
    rank.score = std::max(rank.score, scoreOf(entry->room, plan.request));
  }
  at->second.rank = rank;
  ranks_.insert(rank);
}

std::span<const ReservationPtr> ReservationMatches::on(Row row) const {
  const auto at = byRow_.find(row);
  if (at == byRow_.end()) return {};
  return at->second.entries;
}

std::vector<Row> ReservationMatches::rows() const {
  std::vector<Row> out;
  for (const auto& [row, there] : byRow_) out.push_back(row);
  return out;
}

std::vector<std::vector<Row>> ReservationMatches::best(size_t most) const {
  std::vector<std::vector<Row>> out;
  const Rank* before = nullptr;
  for (const Rank& rank : ranks_) {
    if (most-- == 0) break;
    const bool equal = before && before->order == rank.order && before->score == rank.score;
    if (!equal) out.emplace_back();
    out.back().push_back(rank.row);
    before = &rank;
  }
  return out;
}

int32_t ReservationMatches::rawScore(Row row) const {
  const auto at = byRow_.find(row);
  if (at == byRow_.end()) return 0;
  const Rank& rank = at->second.rank;
  const bool isFirst = rank.order != kUnordered && rank.order == ranks_.begin()->order;
  return isFirst ? kFirstInOrder : static_cast<int32_t>(rank.score);
}

std::unique_ptr<ReservationPlan> compileReservation(const PodClass& cls, const Cluster& cluster) {
  auto out = std::make_unique<ReservationPlan>();
  out->pod.meta.ns = cls.ns;
  out->pod.meta.labels = cls.labels;
  out->pod.meta.owners = cls.owners;
  out->pod.meta.annotations = cls.annotations;
  out->pod.meta.uid = cls.only;
  if (!cls.only.empty()) out->pod.meta.name = cls.podName;
  out->pod.spec = cls.spec;
  out->request = cluster.reservations.amountsOfRequests(cls.requests);
  out->isStandIn = cls.annotations.has(api::annotation::kReservePod);
  out->isOperating = !out->isStandIn && api::isReservationPod(cls.labels);
  const auto policy = cls.annotations.get(kReservePolicy).value_or("");
  out->policy = out->isOperating ? AllocatePolicy::kAligned
                                 : allocatePolicyOf(policy).value_or(AllocatePolicy::kDefault);
  out->node = cls.annotations.get(api::annotation::kReservationNode).value_or("");
  if (out->isStandIn) return out;
  auto claim = ReservationClaim::of(out->pod);
  if (claim)
    out->claim = std::move(*claim);
  else
    out->trouble = claim.error().text();
  return out;
}

}  // namespace mangrove::placement
