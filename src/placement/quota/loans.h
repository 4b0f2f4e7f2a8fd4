#pragma once
// Who borrows how much from whom, right now. What children of a quota use beyond their (scaled)
// minimums comes first out of what nobody's minimum covers, and then from the siblings that leave
// part of theirs unused, in proportion to what they leave.
//
//   for (const Loan& loan : loansBelow(ledger, parent))
//     ledger.terms(loan.borrower).name, loan.resource, loan.amount   // from loan.lender, if any
//
// Pure; the ledger's owner's thread.

#include <vector>

#include "placement/quota/ledger.h"

namespace mangrove::placement {

struct Loan {
  QuotaId borrower = kNoQuota;
  QuotaId lender = kNoQuota;  // kNoQuota: what the parent has beyond all minimums
  Interned resource;
  int64_t amount = 0;
  bool operator==(const Loan&) const = default;
};

// Between the children of one quota; borrowers by name, lenders by name, what is nobody's first.
std::vector<Loan> loansBelow(const QuotaLedger& ledger, QuotaId parent);
// Of the whole tree, parents before their children.
std::vector<Loan> allLoans(const QuotaLedger& ledger);

}  // namespace mangrove::placement
