#include "placement/quota/loans.h"

#include <algorithm>

#include "placement/quota/split.h"

namespace mangrove::placement {

namespace {

struct Side {
  std::vector<QuotaId> quotas;
  std::vector<int64_t> amounts;
  int64_t sum = 0;
  void put(QuotaId quota, int64_t amount) {
    quotas.push_back(quota);
    amounts.push_back(amount);
    sum = saturatingSum(sum, amount);
  }
};

// What the parent has beyond its children's minimums.
int64_t unclaimed(const QuotaLedger& ledger, QuotaId parent, Interned name) {
  const Amounts all = parent == kRootId ? ledger.dividedTotal() : ledger.runtime(parent);
  int64_t left = all.amount(name);
  for (QuotaId child : ledger.childrenOf(parent))
    left = saturatingDifference(left, ledger.numbers(child).scaledMin.amount(name));
  return std::max<int64_t>(left, 0);
}

// `amount` of every lender's part, as whole units that add up.
std::vector<int64_t> shareOut(int64_t amount, const Side& side) {
  std::vector<int64_t> out = proportional(std::min(amount, side.sum), side.amounts);
  for (size_t i = 0; i < out.size(); i++) out[i] = std::min(out[i], side.amounts[i]);
  return out;
}

void addLoans(const QuotaLedger& ledger, QuotaId parent, Interned name, std::vector<Loan>& out) {
  Side borrowers, lenders;
  for (QuotaId child : ledger.childrenOf(parent)) {
    const QuotaNumbers& numbers = ledger.numbers(child);
    const int64_t more =
        saturatingDifference(numbers.used.amount(name), numbers.scaledMin.amount(name));
    if (more > 0) borrowers.put(child, more);
    if (more < 0 && ledger.terms(child).lends) lenders.put(child, -more);
  }
  if (borrowers.sum == 0) return;
  // What is nobody's serves all borrowers in proportion; the rest of each comes from the lenders.
  const int64_t free = std::min(unclaimed(ledger, parent, name), borrowers.sum);
  const std::vector<int64_t> fromFree = proportional(free, borrowers.amounts);
  for (size_t i = 0; i < borrowers.quotas.size(); i++) {
    if (fromFree[i] > 0) out.push_back({borrowers.quotas[i], kNoQuota, name, fromFree[i]});
    const std::vector<int64_t> parts = shareOut(borrowers.amounts[i] - fromFree[i], lenders);
    for (size_t k = 0; k < parts.size(); k++) {
      if (parts[k] > 0) out.push_back({borrowers.quotas[i], lenders.quotas[k], name, parts[k]});
      lenders.amounts[k] -= parts[k];
      lenders.sum -= parts[k];
    }
  }
}

void collect(const QuotaLedger& ledger, QuotaId parent, std::vector<Loan>& out) {
  for (const Loan& loan : loansBelow(ledger, parent)) out.push_back(loan);
  for (QuotaId child : ledger.childrenOf(parent)) collect(ledger, child, out);
}

}  // namespace

std::vector<Loan> loansBelow(const QuotaLedger& ledger, QuotaId parent) {
  Amounts names;
  for (QuotaId child : ledger.childrenOf(parent)) names.raiseTo(ledger.terms(child).max);
  std::vector<Interned> sorted;
  for (const auto& [name, most] : names) sorted.push_back(name);
  std::sort(sorted.begin(), sorted.end(),
            [](Interned a, Interned b) { return a.view() < b.view(); });
  std::vector<Loan> out;
  for (Interned name : sorted) addLoans(ledger, parent, name, out);
  return out;
}

std::vector<Loan> allLoans(const QuotaLedger& ledger) {
  std::vector<Loan> out;
  collect(ledger, kRootId, out);
  return out;
}

}  // namespace mangrove::placement
