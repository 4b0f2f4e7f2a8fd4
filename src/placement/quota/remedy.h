#pragma once
// What would have to change so that a refused pod is admitted: the least of it. Making exactly this
// change admits the pod, and one unit less of any part of it does not; every answer has been tried
// out on a copy of the numbers before it is told.
//
//   for (const QuotaChange& change : leastChange(ledger, id, requests, kind, rules))
//     textOf(ledger, change)       // "2 of cpu must be given back in quota team-b"
//
// Asked first is who uses something below the quota that refuses, borrowers before others; where
// nobody uses anything, a larger maximum, a larger minimum and at last a larger cluster.
//
// Pure functions, any thread. Copies the ledger: for explanations, not for every cycle.

#include <string>
#include <vector>

#include "placement/quota/judge.h"

namespace mangrove::placement {

struct QuotaChange {
  enum class Kind : uint8_t { kGiveBack, kRaiseMax, kRaiseMin, kRaiseTotal };
  Kind kind = Kind::kGiveBack;
  QuotaId quota = kNoQuota;  // whose own pods give back; whose limit rises
  Interned resource;
  PodKind pods = PodKind::kPreemptible;  // kGiveBack: of those that may not be preempted
  int64_t amount = 0;
};

// Empty: there is room, or no change was found (nothing but a larger pod would do).
std::vector<QuotaChange> leastChange(const QuotaLedger& ledger, QuotaId id, const Amounts& asked,
                                     PodKind kind, const AdmissionRules& rules);
// What the change says, times `sign`.
void apply(QuotaLedger& ledger, const QuotaChange& change, int sign = +1);
std::string textOf(const QuotaLedger& ledger, const QuotaChange& change);

}  // namespace mangrove::placement
