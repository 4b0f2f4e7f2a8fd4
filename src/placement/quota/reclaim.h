#pragma once
// Taking back what was lent: which pods of borrowers may be asked to leave for a pod that is within
// its own minimum, and the set of them that really admits it. If no set suffices, nobody leaves.
//
//   if (isWithinMin(ledger, id, asked))
//     auto choice = reclaim(ledger, {id, asked, kind, rules, now, shortage}, debtors, fitsOnNode);
//
// A borrower is a quota that uses more than its (scaled) minimum of something the pod asks for, and
// so does every quota above it up to where its path and the claimant's meet: what a whole branch
// has within its minimum is not taken from it. From each no more is taken than it has borrowed, but
// for the last pod, so that nobody who left has a claim to come back. Gangs give members they do not
// need (Candidate::surplus) or go whole. Who goes among them is the project's one order of victims
// (victims/order.h).
//
// Pure but for trials in the ledger, which are undone. Its owner's thread.

#include <span>
#include <string>
#include <vector>

#include "placement/quota/judge.h"
#include "victims/order.h"

namespace mangrove::placement {

struct Debtor {
  QuotaId quota = kNoQuota;
  const Amounts* request = nullptr;
  PodKind kind = PodKind::kPreemptible;
  bool spared = false;  // may not be preempted, or a budget protects it
  WallTime started{};
  victims::Candidate candidate;  // name, gang, rank, priority, progress; frees is filled in here
};

struct Claim {
  QuotaId quota = kNoQuota;
  const Amounts& asked;
  PodKind kind = PodKind::kPreemptible;
  AdmissionRules rules;
  WallTime now{};
  Amounts missing;  // what must become free at least, where the caller knows (a node's shortage)
};

// Used and asked together, of what is asked for, within the quota's scaled minimum.
bool isWithinMin(const QuotaLedger& ledger, QuotaId id, const Amounts& asked);

// Ascending indexes of those that may be taken from.
std::vector<size_t> reclaimable(const QuotaLedger& ledger, const Claim& claim,
                                std::span<const Debtor> debtors);

// Indexes of the choice's members are those of `debtors`. `fits` is asked with such indexes for
// sets that the quotas accept; empty: the quotas decide.
victims::Choice reclaim(QuotaLedger& ledger, const Claim& claim, std::span<const Debtor> debtors,
                        const victims::Suffices& fits = {});
// The same among these of them, whoever they borrow from: preemption inside a quota.
victims::Choice chooseAmong(QuotaLedger& ledger, const Claim& claim,
                            std::span<const Debtor> debtors, std::span<const size_t> allowed,
                            const victims::Suffices& fits = {});

}  // namespace mangrove::placement
