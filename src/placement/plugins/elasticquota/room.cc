#include "placement/plugins/elasticquota/room.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "api/annotations/gang.h"
#include "api/annotations/scheduling.h"
#include "api/pod/band_rank.h"
#include "api/wire/names.h"
#include "placement/cycle/cycle.h"
#include "placement/cycle/transaction.h"

namespace mangrove::placement {

namespace {

constexpr size_t kMostRows = 200;  // nodes that are tried out for one pod

// Without a band a pod is as safe as one of prod.
int rankOf(api::PriorityBand band) {
  return std::min(api::bandRank(band), api::bandRank(api::PriorityBand::kProd));
}

// The amount of a resource that is free on a row.
int64_t freeOn(const NodeTable& table, Row row, Interned resource, ResourceIds& ids) {
  const ResourceId id = ids.of(resource);
  const int64_t* all = table.allocatable(id);
  const int64_t* taken = table.requested(id);
  return (all ? all[row] : 0) - (taken ? taken[row] : 0);
}

// Pods away from their nodes, and from their quotas, as long as it lives.
class Gone {
 public:
  explicit Gone(Cluster& cluster) : trial_(cluster) {}
  void take(const PodPtr& pod) {
    if (pod->row != kNoRow) trial_.takeAway(pod);
  }

 private:
  Transaction trial_;
};

Debtor debtorOf(const PodInfo& pod, const QuotaPod& counted, QuotaId quota) {
  Debtor out;
  out.quota = quota;
  out.request = counted.request.get();
  out.spared = counted.kind == PodKind::kFixed || !api::isPreemptible(pod.pod->meta.labels);
  out.started = pod.pod->status.startTime;
  victims::Candidate& candidate = out.candidate;
  candidate.name = pod.pod->meta.ns.str() + "/" + pod.pod->meta.name.str();
  candidate.rank = rankOf(pod.cls->band);
  candidate.priority = pod.cls->priority;
  const std::string_view gang = api::gangNameOf(pod.pod->meta.labels, pod.pod->meta.annotations);
  if (!gang.empty()) candidate.gang = fmt::format("{}/{}", pod.pod->meta.ns.view(), gang);
  candidate.progress.cores =
      static_cast<double>(counted.request->amount(api::resourceNames().cpu)) / 1000;
  candidate.progress.started = pod.pod->status.startTime;
  return out;
}

}  // namespace

bool QuotaRoom::Offer::isBetterThan(const Offer& other) const {
  if (highest != other.highest) return highest < other.highest;
  if (cost != other.cost) return cost < other.cost;
  return victims.size() < other.victims.size();
}

QuotaRoom::Field QuotaRoom::fieldOf(const QuotaLedger& ledger) const {
  Field out;
  desk_.book().eachPod([&](const api::Uid& uid, const QuotaPod& pod, const QuotaPlace& place) {
    if (!pod.assigned || place.ledger != &ledger) return;
    const PodPtr there = cluster_.find(uid);
    if (!there || there->row == kNoRow || there->terminating) return;
    out.pods.push_back(there);
    out.debtors.push_back(debtorOf(*there, pod, place.id));
  });
  spareGuarded(out);
  return out;
}

// Of the pods behind a budget only so many may go as it allows, the least important first.
void QuotaRoom::spareGuarded(Field& field) const {
  for (const auto& [key, budget] : cluster_.budgets) {
    if (!budget->selector || budget->selector->empty()) continue;
    const auto selector = api::compile(*budget->selector);
    if (!selector) continue;
    std::vector<size_t> guarded;
    for (size_t i = 0; i < field.pods.size(); i++) {
      const api::ObjectMeta& meta = field.pods[i]->pod->meta;
      if (meta.ns == budget->meta.ns && selector->matches(meta.labels)) guarded.push_back(i);
    }
    std::sort(guarded.begin(), guarded.end(), [&](size_t a, size_t b) {
      return field.pods[a]->cls->priority < field.pods[b]->cls->priority;
    });
    const auto may = static_cast<size_t>(std::max(budget->disruptionsAllowed, 0));
    for (size_t i = may; i < guarded.size(); i++) field.debtors[guarded[i]].spared = true;
  }
}

void QuotaRoom::allowInside(Field& field, const PodInfo& pod, const QuotaDesk::Asked& asked) const {
  const bool isDefault = asked.place.name() == api::object::kDefaultQuota;
  field.allowed.clear();
  if (isDefault && desk_.args().sparesDefaultQuota) return;
  for (size_t i = 0; i < field.pods.size(); i++)
    if (field.debtors[i].quota == asked.place.id && !field.debtors[i].spared &&
        field.pods[i]->cls->priority < pod.cls->priority)
      field.allowed.push_back(i);
}

void QuotaRoom::allowBorrowers(Field& field, const QuotaDesk::Asked& asked) const {
  const QuotaLedger& ledger = *asked.place.ledger;
  field.allowed.clear();
  if (!isWithinMin(ledger, asked.place.id, *asked.request)) return;
  const Claim claim{asked.place.id, *asked.request, asked.kind, desk_.rules(), clock_.wall(), {}};
  for (size_t i : reclaimable(ledger, claim, field.debtors)) {
    const bool apart = ledger.terms(field.debtors[i].quota).apart;
    if (!apart || !desk_.args().sparesDefaultQuota) field.allowed.push_back(i);
  }
}

QuotaRoom::Offer QuotaRoom::offer(Row row, std::vector<size_t> victims, const Field& field) const {
  Offer out{row, std::move(victims), std::numeric_limits<int32_t>::min(), 0};
  std::vector<victims::Candidate> all;
  for (size_t i : out.victims) all.push_back(field.debtors[i].candidate);
  for (const victims::Cost& cost : victims::costs(all, clock_.wall())) out.cost += cost.total();
  for (size_t i : out.victims) out.highest = std::max(out.highest, field.pods[i]->cls->priority);
  return out;
}

// The least that must leave the row itself so that the pod fits there.
std::optional<std::vector<size_t>> QuotaRoom::onNode(Row row, Cycle& cycle,
                                                     const QuotaDesk::Asked& asked,
                                                     const Field& field) {
  if (cycle.fitsWithNominated(row).fits()) return std::vector<size_t>{};
  std::vector<size_t> here;
  std::vector<victims::Candidate> candidates;
  std::vector<Interned> names;
  victims::Request request;
  request.now = clock_.wall();
  for (const auto& [name, amount] : *asked.request) {
    const int64_t missing = amount - freeOn(cluster_.table, row, name, cluster_.table.resources());
    if (amount <= 0 || missing <= 0) continue;
    names.push_back(name);
    request.need.push_back(static_cast<double>(missing));
  }
  if (names.empty()) return std::nullopt;  // something else than room is missing
  for (size_t i : field.allowed) {
    if (field.pods[i]->row != row) continue;
    here.push_back(i);
    candidates.push_back(field.debtors[i].candidate);
    candidates.back().frees.clear();
    for (Interned name : names)
      candidates.back().frees.push_back(
          static_cast<double>(field.debtors[i].request->amount(name)));
  }
  if (here.empty()) return std::nullopt;
  request.suffices = [&](std::span<const size_t> chosen) {
    Gone gone(cluster_);
    for (size_t i : chosen) gone.take(field.pods[here[i]]);
    return cycle.fitsWithNominated(row).fits();
  };
  const victims::Choice choice = victims::chooseVictims(candidates, request);
  if (!choice.enough) return std::nullopt;
  std::vector<size_t> out;
  for (size_t i : choice.candidates()) out.push_back(here[i]);
  return out;
}

// Room on the node first, and then whatever the quotas still lack, wherever it runs.
std::optional<QuotaRoom::Offer> QuotaRoom::offerOn(Row row, Cycle& cycle,
                                                   const QuotaDesk::Asked& asked,
                                                   const Field& field) {
  auto chosen = onNode(row, cycle, asked, field);
  if (!chosen) return std::nullopt;
  Gone gone(cluster_);
  for (size_t i : *chosen) gone.take(field.pods[i]);
  if (desk_.verdict(asked)) {
    std::vector<size_t> rest;
    for (size_t i : field.allowed)
      if (std::find(chosen->begin(), chosen->end(), i) == chosen->end()) rest.push_back(i);
    const Claim claim{asked.place.id, *asked.request, asked.kind, desk_.rules(), clock_.wall(), {}};
    const victims::Choice more = chooseAmong(*asked.place.ledger, claim, field.debtors, rest);
    if (!more.enough) return std::nullopt;
    for (size_t i : more.candidates()) chosen->push_back(i);
  }
  return offer(row, std::move(*chosen), field);
}

std::optional<QuotaRoom::Offer> QuotaRoom::search(const Stranded& stranded,
                                                  const QuotaDesk::Asked& asked,
                                                  const Field& field) {
  if (field.allowed.empty()) return std::nullopt;
  // Where it fits as it is, only the quotas must be satisfied, and any such node will do.
  if (const auto rows = stranded.cycle.feasibleRows(); !rows.empty())
    return offerOn(rows.front(), stranded.cycle, asked, field);
  std::set<Row> rows;
  for (size_t i : field.allowed)
    if (rows.size() < kMostRows) rows.insert(field.pods[i]->row);
  std::optional<Offer> best;
  for (Row row : rows)
    if (auto found = offerOn(row, stranded.cycle, asked, field))
      if (!best || found->isBetterThan(*best)) best = std::move(found);
  return best;
}

// Pods that are being deleted give back enough; asking others to go as well would be one too many.
bool QuotaRoom::awaitsLeaving(const Stranded& stranded, const QuotaDesk::Asked& asked) {
  Gone gone(cluster_);
  std::set<Row> rows;
  std::vector<PodPtr> leaving;
  cluster_.eachPod([&](const PodPtr& pod) {
    if (pod->terminating && pod->row != kNoRow) leaving.push_back(pod);
  });
  if (leaving.empty()) return false;
  for (const PodPtr& pod : leaving) rows.insert(pod->row);
  for (const PodPtr& pod : leaving) gone.take(pod);
  if (desk_.verdict(asked)) return false;
  return !stranded.cycle.feasibleRows().empty() ||
         std::any_of(rows.begin(), rows.end(),
                     [&](Row row) { return stranded.cycle.fitsWithNominated(row).fits(); });
}

// Whether looking for victims can be worth it; most blocked pods end here.
bool QuotaRoom::mayHelp(const PodInfo& pod, const QuotaDesk::Asked& asked) const {
  const bool spared =
      desk_.args().sparesDefaultQuota && asked.place.name() == api::object::kDefaultQuota;
  const auto lowest = desk_.book().lowestAssigned(asked.place);
  if (!spared && lowest && *lowest < pod.cls->priority) return true;
  return desk_.args().reclaim && isWithinMin(*asked.place.ledger, asked.place.id, *asked.request);
}

RoomAnswer QuotaRoom::make(const Stranded& stranded) {
  using Kind = RoomAnswer::Kind;
  const PodPtr pod = stranded.pod;
  const QuotaDesk::Asked asked = desk_.askedBy(*pod->pod);
  if (deeds_ == nullptr || !asked.place || !mayHelp(*pod, asked)) return {};
  if (pod->cls->spec->preemptionPolicy == api::PreemptionPolicy::kNever)
    return {Kind::kRefused, "quota: not eligible due to preemptionPolicy=Never."};
  if (awaitsLeaving(stranded, asked))
    return {Kind::kRefused, "quota: pods that are being deleted make room."};
  Field field = fieldOf(*asked.place.ledger);
  allowInside(field, *pod, asked);
  auto found = search(stranded, asked, field);
  if (!found && desk_.args().reclaim) {
    allowBorrowers(field, asked);
    found = search(stranded, asked, field);
  }
  if (!found || found->victims.empty())
    return {Kind::kRefused, fmt::format("quota {}: no set of pods would make room by leaving.",
                                        asked.place.name())};
  std::vector<PodPtr> victims;
  for (size_t i : found->victims) victims.push_back(field.pods[i]);
  deeds_->makeRoom(pod, found->row, victims);
  return {Kind::kRoomMade, ""};
}

}  // namespace mangrove::placement
