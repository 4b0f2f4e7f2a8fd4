// Who borrows from whom.
#include "placement/quota/loans.h"

#include <gmock/gmock.h>

#include "api/wire/names.h"

namespace mangrove::placement {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Bank {
  explicit Bank(int64_t total) { ledger.setTotal({{"cpu", total}}); }
  QuotaId quota(const std::string& name, int64_t min, int64_t used, bool lends = true,
                const std::string& parent = std::string(api::object::kRootQuota)) {
    QuotaTerms terms;
    terms.name = name;
    terms.parent = parent;
    terms.lends = lends;
    terms.max = terms.weight = {{"cpu", 100}};
    terms.min = {{"cpu", min}};
    const QuotaId id = ledger.put(terms);
    ledger.request(id, {{"cpu", used}}, +1);
    ledger.use(id, {{"cpu", used}}, +1);
    return id;
  }
  QuotaLedger ledger;
  const Interned cpu{"cpu"};
};

TEST(QuotaLoans, WhatIsNobodysComesFirstAndLendersShareTheRest) {
  Bank bank(100);
  const QuotaId a = bank.quota("a", 10, 60);
  const QuotaId b = bank.quota("b", 20, 5);
  const QuotaId c = bank.quota("c", 40, 10);
  // 30 are in nobody's minimum; 20 more come from 15 and 30 left by b and c.
  EXPECT_THAT(loansBelow(bank.ledger, kRootId),
              ElementsAre(Loan{a, kNoQuota, bank.cpu, 30}, Loan{a, b, bank.cpu, 7},
                          Loan{a, c, bank.cpu, 13}));
}

TEST(QuotaLoans, WhoDoesNotLendIsNoLender) {
  Bank bank(60);
  const QuotaId a = bank.quota("a", 10, 30);
  bank.quota("b", 20, 5, false);
  const QuotaId c = bank.quota("c", 30, 10);
  EXPECT_THAT(loansBelow(bank.ledger, kRootId), ElementsAre(Loan{a, c, bank.cpu, 20}));
}

TEST(QuotaLoans, NobodyBorrowsWithinItsMinimum) {
  Bank bank(100);
  bank.quota("a", 30, 30);
  bank.quota("b", 30, 0);
  EXPECT_THAT(allLoans(bank.ledger), IsEmpty());
}

TEST(QuotaLoans, EachLevelHasItsOwn) {
  Bank bank(50);
  const QuotaId top = bank.quota("top", 10, 0);
  bank.quota("other", 40, 0);
  const QuotaId x = bank.quota("x", 10, 25, true, "top");
  const auto loans = allLoans(bank.ledger);
  ASSERT_EQ(loans.size(), 2u);
  EXPECT_EQ(loans[0].borrower, top);
  EXPECT_EQ(loans[0].amount, 15);
  EXPECT_EQ(loans[1].borrower, x);  // from what its parent has beyond
  EXPECT_EQ(loans[1].amount, 15);
  EXPECT_EQ(loans[1].lender, kNoQuota);
}

}  // namespace
}  // namespace mangrove::placement
