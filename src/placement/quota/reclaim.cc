#include "placement/quota/reclaim.h"

#include <algorithm>
#include <map>
#include <set>

namespace mangrove::placement {

namespace {

std::vector<QuotaId> pathOf(const QuotaLedger& ledger, QuotaId id) {
  std::vector<QuotaId> out;
  for (QuotaId at = id; at != kRootId && at != kNoQuota; at = ledger.parentOf(at))
    out.push_back(at);
  return out;
}

// The quotas of a debtor's path that the claimant is not below.
std::vector<QuotaId> ownBranch(const QuotaLedger& ledger, QuotaId debtor,
                               const std::vector<QuotaId>& claimant) {
  std::vector<QuotaId> out;
  for (QuotaId at : pathOf(ledger, debtor)) {
    if (std::find(claimant.begin(), claimant.end(), at) != claimant.end()) break;
    out.push_back(at);
  }
  return out;
}

// What has been promised to be taken, so that nobody loses more than it borrowed.
class Excess {
 public:
  explicit Excess(const QuotaLedger& ledger) : ledger_(ledger) {}

  bool borrows(QuotaId id, const Amounts& asked) const {
    const Amounts& min = ledger_.numbers(id).scaledMin;
    const auto taken = taken_.find(id);
    return std::any_of(asked.begin(), asked.end(), [&](const Amounts::Entry& entry) {
      if (entry.amount <= 0) return false;
      int64_t used = ledger_.used(id).amount(entry.name);
      if (taken != taken_.end()) used -= taken->second.amount(entry.name);
      return used > min.amount(entry.name);
    });
  }
  void take(const std::vector<QuotaId>& branch, const Amounts& request) {
    for (QuotaId id : branch) taken_[id].add(request);
  }

 private:
  const QuotaLedger& ledger_;
  std::map<QuotaId, Amounts> taken_;
};

std::vector<size_t> leastImportantFirst(std::span<const Debtor> debtors) {
  std::vector<size_t> order;
  for (size_t i = 0; i < debtors.size(); i++)
    if (!debtors[i].spared) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const victims::Candidate &x = debtors[a].candidate, &y = debtors[b].candidate;
    if (x.rank != y.rank) return x.rank < y.rank;
    if (x.priority != y.priority) return x.priority < y.priority;
    return debtors[a].started > debtors[b].started;
  });
  return order;
}

// The amounts that decide, in one order for the need and the candidates.
std::vector<std::pair<Interned, int64_t>> needOf(const QuotaLedger& ledger, const Claim& claim) {
  Amounts need = claim.missing;
  for (const auto& refusal : judgeAll(ledger, claim.quota, claim.asked, claim.kind, claim.rules)) {
    Amounts here;
    for (const Shortage& shortage : refusal.shortages)
      here.set(shortage.resource, shortage.missing());
    need.raiseTo(here);
  }
  std::vector<std::pair<Interned, int64_t>> out;
  for (const auto& [name, amount] : need)
    if (amount > 0) out.emplace_back(name, amount);
  return out;
}

// The uses of some pods away, as long as it lives.
class Without {
 public:
  Without(QuotaLedger& ledger, std::span<const Debtor> debtors, std::span<const size_t> gone)
      : ledger_(ledger), debtors_(debtors), gone_(gone) {
    count(-1);
  }
  ~Without() { count(+1); }
  Without(const Without&) = delete;
  Without& operator=(const Without&) = delete;

 private:
  void count(int sign) {
    for (size_t i : gone_)
      ledger_.use(debtors_[i].quota, *debtors_[i].request, sign, debtors_[i].kind,
                  QuotaLedger::Meant::kTrial);
  }
  QuotaLedger& ledger_;
  std::span<const Debtor> debtors_;
  std::span<const size_t> gone_;
};

}  // namespace

bool isWithinMin(const QuotaLedger& ledger, QuotaId id, const Amounts& asked) {
  const Amounts& min = ledger.numbers(id).scaledMin;
  return std::all_of(asked.begin(), asked.end(), [&](const Amounts::Entry& entry) {
    return entry.amount <= 0 || saturatingSum(ledger.used(id).amount(entry.name), entry.amount) <=
                                    min.amount(entry.name);
  });
}

namespace {

// Who may be asked, party by party: a pod, or all members of a gang that one of its needed members
// stands for.
class Asking {
 public:
  Asking(const QuotaLedger& ledger, const Claim& claim, std::span<const Debtor> debtors)
      : ledger_(ledger),
        claim_(claim),
        debtors_(debtors),
        claimant_(pathOf(ledger, claim.quota)),
        excess_(ledger) {
    for (size_t i = 0; i < debtors.size(); i++)
      if (!debtors[i].candidate.gang.empty()) gangs_[debtors[i].candidate.gang].push_back(i);
  }

  std::vector<size_t> all() {
    for (size_t i : leastImportantFirst(debtors_))
      if (!taken_.contains(i) && borrows(i)) take(partyOf(i));
    return {taken_.begin(), taken_.end()};
  }

 private:
  bool borrows(size_t i) const {
    const auto branch = ownBranch(ledger_, debtors_[i].quota, claimant_);
    return !branch.empty() && std::all_of(branch.begin(), branch.end(), [&](QuotaId id) {
      return excess_.borrows(id, claim_.asked);
    });
  }
  std::vector<size_t> partyOf(size_t i) const {
    const victims::Candidate& one = debtors_[i].candidate;
    if (one.gang.empty() || one.surplus) return {i};
    return gangs_.at(one.gang);
  }
  // One that must stay, or is the claimant's own, keeps its party.
  void take(const std::vector<size_t>& party) {
    for (size_t i : party)
      if (debtors_[i].spared || ownBranch(ledger_, debtors_[i].quota, claimant_).empty()) return;
    for (size_t i : party)
      if (taken_.insert(i).second)
        excess_.take(ownBranch(ledger_, debtors_[i].quota, claimant_), *debtors_[i].request);
  }

  const QuotaLedger& ledger_;
  const Claim& claim_;
  std::span<const Debtor> debtors_;
  std::vector<QuotaId> claimant_;
  Excess excess_;
  std::map<std::string_view, std::vector<size_t>> gangs_;
  std::set<size_t> taken_;
};

}  // namespace

std::vector<size_t> reclaimable(const QuotaLedger& ledger, const Claim& claim,
                                std::span<const Debtor> debtors) {
  return Asking(ledger, claim, debtors).all();
}

victims::Choice chooseAmong(QuotaLedger& ledger, const Claim& claim,
                            std::span<const Debtor> debtors, std::span<const size_t> allowed,
                            const victims::Suffices& fits) {
  const auto need = needOf(ledger, claim);
  victims::Choice none;
  if (need.empty() || allowed.empty()) return none;
  victims::Request request;
  request.now = claim.now;
  for (const auto& [name, amount] : need) request.need.push_back(static_cast<double>(amount));
  std::vector<victims::Candidate> candidates;
  for (size_t i : allowed) {
    candidates.push_back(debtors[i].candidate);
    candidates.back().frees.clear();
    candidates.back().spared = debtors[i].spared;
    for (const auto& [name, amount] : need)
      candidates.back().frees.push_back(static_cast<double>(debtors[i].request->amount(name)));
  }
  request.suffices = [&](std::span<const size_t> chosen) {
    std::vector<size_t> gone;
    for (size_t i : chosen) gone.push_back(allowed[i]);
    const Without without(ledger, debtors, gone);
    if (judge(ledger, claim.quota, claim.asked, claim.kind, claim.rules)) return false;
    return !fits || fits(gone);
  };
  victims::Choice choice = victims::chooseVictims(candidates, request);
  if (!choice.enough) return none;
  for (victims::Leaver& leaver : choice.leavers)
    for (size_t& member : leaver.members) member = allowed[member];
  return choice;
}

victims::Choice reclaim(QuotaLedger& ledger, const Claim& claim, std::span<const Debtor> debtors,
                        const victims::Suffices& fits) {
  if (!isWithinMin(ledger, claim.quota, claim.asked)) return {};
  return chooseAmong(ledger, claim, debtors, reclaimable(ledger, claim, debtors), fits);
}

}  // namespace mangrove::placement
