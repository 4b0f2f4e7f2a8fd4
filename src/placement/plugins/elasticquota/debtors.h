#pragma once
// Pods that run in quotas, as those who may be asked to leave: what each has, what it would lose,
// who is spared, which members its gang could do without.
//
//   DebtorField field = debtorsOf(cluster, desk, ledger);
//   field.allowed = …;  field.keepGangsWhole();
//
// A member that its gang needs goes with all others of the gang or not at all. A gang whose members
// are in several trees, or that goes together with other gangs, gives nobody. Owner thread only.

#include <vector>

#include "placement/plugins/elasticquota/quota_desk.h"
#include "placement/quota/reclaim.h"

namespace mangrove::placement {

struct DebtorField {
  std::vector<PodPtr> pods;
  std::vector<Debtor> debtors;
  std::vector<size_t> allowed;  // who may be asked in the question at hand

  // Takes back the permission for needed members of gangs of which somebody may not go.
  void keepGangsWhole();
};

// All that run in the quotas of a tree and are not leaving already.
DebtorField debtorsOf(const Cluster& cluster, const QuotaDesk& desk, const QuotaLedger& ledger);

}  // namespace mangrove::placement
