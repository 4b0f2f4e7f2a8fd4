#pragma once
// Whether a quota and all quotas above it have room for a pod, and if not, exactly where and by how
// much.
//
//   auto refusal = judge(ledger, id, requests, PodKind::kPreemptible, rules);
//   if (refusal) refusal->message   // "Insufficient quotas, quotaName: team-a, runtime: …"
//
// Only resources that the pod asks for are looked at. The quota itself comes first, then what may
// not be preempted against its minimum, then the parents upwards; the root refuses nobody.
//
// Pure functions over a ledger; its owner's thread.

#include <optional>
#include <string>
#include <vector>

#include "placement/quota/ledger.h"

namespace mangrove::placement {

struct AdmissionRules {
  bool byRuntime = true;      // otherwise by maximum
  bool checksParents = true;  // upwards to the top; the reference has this off unless asked
};

struct Shortage {
  Interned resource;
  int64_t used = 0, asked = 0, limit = 0;
  int64_t missing() const { return saturatingDifference(saturatingSum(used, asked), limit); }
};

enum class QuotaCheck : uint8_t { kQuota, kNonPreemptible, kParent };

struct QuotaRefusal {
  QuotaCheck check = QuotaCheck::kQuota;
  QuotaId quota = kNoQuota;         // who refuses
  std::vector<QuotaId> path;        // from it down to the pod's own
  std::vector<Shortage> shortages;  // by the names' texts
};

// The first refusal; none: there is room.
std::optional<QuotaRefusal> judge(const QuotaLedger& ledger, QuotaId id, const Amounts& asked,
                                  PodKind kind, const AdmissionRules& rules);
// Every refusal on the way up.
std::vector<QuotaRefusal> judgeAll(const QuotaLedger& ledger, QuotaId id, const Amounts& asked,
                                   PodKind kind, const AdmissionRules& rules);

// In the reference's words, with the amounts.
std::string messageOf(const QuotaLedger& ledger, const QuotaRefusal& refusal, const Amounts& asked,
                      const AdmissionRules& rules);
// "cpu: 8 used + 3 asked > 10"
std::string textOf(const Shortage& shortage);

}  // namespace mangrove::placement
