#include "placement/plugins/elasticquota/room.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "api/wire/names.h"
#include "placement/cycle/cycle.h"
#include "placement/cycle/transaction.h"

namespace mangrove::placement {

namespace {

constexpr size_t kMostRows = 200;  // nodes that are tried out for one pod

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

}  // namespace

bool QuotaRoom::Offer::isBetterThan(const Offer& other) const {
  if (highest != other.highest) return highest < other.highest;
  if (cost != other.cost) return cost < other.cost;
  return victims.size() < other.victims.size();
}

// Other claims as they will end: their victims gone, the claimants in their place.
class QuotaRoom::Pending {
 public:
  Pending(QuotaRoom& room, Gone& gone, const api::Uid& asking) {
    for (const auto& [claimant, claim] : room.claims_) {
      if (claimant == asking) continue;
      for (const api::Uid& uid : claim.victims)
        if (const PodPtr victim = room.cluster_.find(uid)) gone.take(victim);
      count(claim, +1);
      counted_.push_back(claim);
    }
  }
  ~Pending() {
    for (const Claimed& claim : counted_) count(claim, -1);
  }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

 private:
  static void count(const Claimed& claim, int sign) {
    claim.place.ledger->use(claim.place.id, *claim.request, sign, claim.kind,
                            QuotaLedger::Meant::kTrial);
  }
  std::vector<Claimed> counted_;
};

void QuotaRoom::allowInside(Field& field, const PodInfo& pod, const QuotaDesk::Asked& asked) const {
  const bool isDefault = asked.place.name() == api::object::kDefaultQuota;
  field.allowed.clear();
  if (isDefault && desk_.args().sparesDefaultQuota) return;
  for (size_t i = 0; i < field.pods.size(); i++)
    if (field.debtors[i].quota == asked.place.id && !field.debtors[i].spared &&
        field.pods[i]->cls->priority < pod.cls->priority)
      field.allowed.push_back(i);
  field.keepGangsWhole();
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
  field.keepGangsWhole();
}

QuotaRoom::Offer QuotaRoom::offer(Row row, std::vector<size_t> victims, const Field& field) const {
  Offer out{row, std::move(victims), std::numeric_limits<int32_t>::min(), 0};
  std::vector<victims::Candidate> all;
  for (size_t i : out.victims) all.push_back(field.debtors[i].candidate);
  for (const victims::Cost& cost : victims::costs(all, clock_.wall())) out.cost += cost.total();
  for (size_t i : out.victims) out.highest = std::max(out.highest, field.pods[i]->cls->priority);
  return out;
}

namespace {

// The members of a chosen gang that run elsewhere go as well, and their loss counts.
bool matters(const DebtorField& field, size_t i, Row row, const std::set<std::string_view>& here) {
  const victims::Candidate& one = field.debtors[i].candidate;
  return field.pods[i]->row == row || here.contains(one.gang);
}

std::set<std::string_view> gangsOn(const DebtorField& field, Row row) {
  std::set<std::string_view> out;
  for (size_t i : field.allowed) {
    const victims::Candidate& one = field.debtors[i].candidate;
    if (field.pods[i]->row == row && !one.surplus && !one.gang.empty()) out.insert(one.gang);
  }
  return out;
}

}  // namespace

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
  Amounts wanted = *asked.request;
  for (const PodPtr& other : cycle.company(row)) wanted.add(*desk_.askedBy(*other->pod).request);
  for (const auto& [name, amount] : *asked.request) {
    const int64_t missing =
        wanted.amount(name) - freeOn(cluster_.table, row, name, cluster_.table.resources());
    if (amount <= 0 || missing <= 0) continue;
    names.push_back(name);
    request.need.push_back(static_cast<double>(missing));
  }
  if (names.empty()) return std::nullopt;  // something else than room is missing
  const std::set<std::string_view> gangs = gangsOn(field, row);
  for (size_t i : field.allowed) {
    if (!matters(field, i, row, gangs)) continue;
    here.push_back(i);
    candidates.push_back(field.debtors[i].candidate);
    candidates.back().frees.clear();
    const bool frees = field.pods[i]->row == row;
    for (Interned name : names)
      candidates.back().frees.push_back(
          frees ? static_cast<double>(field.debtors[i].request->amount(name)) : 0);
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
  const Pending others(*this, gone, stranded.pod->pod->meta.uid);
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

// A claimant that asks again, or did not come although all have left, claims nothing any more.
void QuotaRoom::dropOldClaims(const api::Uid& asking) {
  constexpr Duration kPatience = std::chrono::seconds(10);
  claims_.erase(asking);
  std::erase_if(claims_, [&](const auto& entry) {
    const Claimed& claim = entry.second;
    const bool left = std::none_of(claim.victims.begin(), claim.victims.end(),
                                   [&](const api::Uid& uid) { return cluster_.find(uid); });
    return left && clock_.mono() - claim.since > kPatience;
  });
}

RoomAnswer QuotaRoom::make(const Stranded& stranded) {
  using Kind = RoomAnswer::Kind;
  const PodPtr pod = stranded.pod;
  const QuotaDesk::Asked asked = desk_.askedBy(*pod->pod);
  // Room that is kept for later is nobody's loss now.
  if (deeds_ == nullptr || !asked.place || pod->isStandIn) return {};
  if (desk_.args().reclaim)
    unhelped_.put(pod->pod->meta.uid, asked.place, asked.request, clock_.mono());
  if (!mayHelp(*pod, asked)) return {};
  if (pod->cls->spec->preemptionPolicy == api::PreemptionPolicy::kNever)
    return {Kind::kRefused, "quota: not eligible due to preemptionPolicy=Never."};
  const api::Uid uid = pod->pod->meta.uid;
  dropOldClaims(uid);
  if (awaitsLeaving(stranded, asked))
    return {Kind::kRefused, "quota: pods that are being deleted make room."};
  Field field;
  const auto found = choose(stranded, asked, field);
  if (!found || found->victims.empty())
    return {Kind::kRefused, fmt::format("quota {}: no set of pods would make room by leaving.",
                                        asked.place.name())};
  std::vector<PodPtr> victims;
  Claimed claim{asked.place, asked.request, asked.kind, {}, clock_.mono()};
  for (size_t i : found->victims) {
    victims.push_back(field.pods[i]);
    claim.victims.push_back(field.pods[i]->pod->meta.uid);
  }
  claims_[uid] = std::move(claim);
  unhelped_.erase(uid);
  deeds_->makeRoom(pod, found->row, victims);
  return {Kind::kRoomMade, ""};
}

// Beside what others have claimed already: inside the quota first, then among borrowers.
std::optional<QuotaRoom::Offer> QuotaRoom::choose(const Stranded& stranded,
                                                  const QuotaDesk::Asked& asked, Field& field) {
  const PodInfo& pod = *stranded.pod;
  Gone gone(cluster_);
  const Pending others(*this, gone, pod.pod->meta.uid);
  field = debtorsOf(cluster_, desk_, *asked.place.ledger);
  allowInside(field, pod, asked);
  auto found = search(stranded, asked, field);
  if (found || !desk_.args().reclaim) return found;
  allowBorrowers(field, asked);
  return search(stranded, asked, field);
}

}  // namespace mangrove::placement
