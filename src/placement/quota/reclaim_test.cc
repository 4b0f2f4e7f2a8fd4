// Reclaim that suffices or does not begin.
#include "placement/quota/reclaim.h"

#include <cstdlib>

#include <gmock/gmock.h>

#include "api/wire/names.h"
#include "base/number/rng.h"

namespace mangrove::placement {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

struct Lent {
  explicit Lent(int64_t total) : ledger({.scaleMins = false}) { ledger.setTotal({{"cpu", total}}); }

  QuotaId quota(const std::string& name, int64_t max, int64_t min, const std::string& parent = "") {
    QuotaTerms terms;
    terms.name = name;
    terms.parent = parent.empty() ? std::string(api::object::kRootQuota) : parent;
    terms.max = terms.weight = {{"cpu", max}};
    terms.min = {{"cpu", min}};
    return ledger.put(terms);
  }
  void run(QuotaId quota, int64_t cpu, int32_t priority, bool spared = false) {
    requests.push_back(std::make_unique<Amounts>(Amounts{{"cpu", cpu}}));
    Debtor debtor;
    debtor.quota = quota;
    debtor.request = requests.back().get();
    debtor.spared = spared;
    debtor.candidate.name = "pod " + std::to_string(debtors.size());
    debtor.candidate.priority = priority;
    debtor.candidate.progress.cores = 1;
    debtors.push_back(debtor);
    ledger.request(quota, *debtor.request, +1);
    ledger.use(quota, *debtor.request, +1);
  }
  victims::Choice claim(QuotaId quota, int64_t cpu) {
    asked = {{"cpu", cpu}};
    ledger.request(quota, asked, +1);
    auto choice = reclaim(ledger, {quota, asked, PodKind::kPreemptible, {}, {}, {}}, debtors);
    ledger.request(quota, asked, -1);
    return choice;
  }

  QuotaLedger ledger;
  std::vector<std::unique_ptr<Amounts>> requests;
  std::vector<Debtor> debtors;
  Amounts asked;
};

struct TwoTenants : Lent {
  TwoTenants() : Lent(100) {
    quota("p", 100, 100);
    owner = quota("owner", 100, 40, "p");
    borrower = quota("borrower", 100, 40, "p");
  }
  QuotaId owner, borrower;
};

TEST(Reclaim, TakesTheLowestPriorityThatSuffices) {
  TwoTenants world;
  for (int i = 0; i < 5; i++) world.run(world.borrower, 20, 10 - i);
  const auto choice = world.claim(world.owner, 30);
  EXPECT_TRUE(choice.enough);
  EXPECT_THAT(choice.candidates(), UnorderedElementsAre(3, 4));
}

TEST(Reclaim, WhoIsNotWithinItsMinimumHasNoClaim) {
  TwoTenants world;
  for (int i = 0; i < 5; i++) world.run(world.borrower, 20, 1);
  EXPECT_THAT(world.claim(world.owner, 50).leavers, IsEmpty());
}

TEST(Reclaim, NobodyLeavesWhenTheSumDoesNotSuffice) {
  TwoTenants world;
  for (int i = 0; i < 4; i++) world.run(world.borrower, 20, 1, true);
  world.run(world.borrower, 20, 1);
  EXPECT_THAT(world.claim(world.owner, 40).leavers, IsEmpty());
  EXPECT_EQ(world.claim(world.owner, 20).candidates(), std::vector<size_t>{4});
}

TEST(Reclaim, WhatABranchHasWithinItsMinimumStays) {
  Lent world(100);
  world.quota("p", 100, 100);
  world.quota("branch", 100, 60, "p");
  const QuotaId greedy = world.quota("greedy", 100, 0, "branch");
  const QuotaId owner = world.quota("owner", 100, 40, "p");
  const QuotaId other = world.quota("other", 100, 0, "p");
  world.run(greedy, 60, 1);
  world.run(other, 40, 9);
  EXPECT_THAT(world.claim(owner, 40).candidates(), ElementsAre(1));
}

TEST(Reclaim, GangsGoWhole) {
  TwoTenants world;
  for (int i = 0; i < 4; i++) world.run(world.borrower, 20, 1);
  world.run(world.borrower, 20, 5);
  for (int i = 0; i < 2; i++) world.debtors[i].candidate.gang = "g";
  world.debtors[2].spared = world.debtors[3].spared = true;
  EXPECT_THAT(world.claim(world.owner, 20).candidates(), UnorderedElementsAre(0, 1));
}

// Whoever leaves admits the pod, and where all that may leave admit it, somebody does.
TEST(Reclaim, SufficesOrDoesNotBegin) {
  Rng rng(5);
  const int wanted = std::getenv("MANGROVE_LONG") != nullptr ? 10000 : 300;
  int begun = 0;
  for (int i = 0; i < wanted; i++) {
    TwoTenants world;
    const QuotaId third = world.quota("third", 100, 20, "p");
    for (int64_t left = 100; left > 0;) {
      const int64_t cpu = std::min<int64_t>(left, 5 + static_cast<int64_t>(rng.below(30)));
      world.run(rng.below(2) == 0 ? world.borrower : third, cpu, static_cast<int32_t>(rng.below(4)),
                rng.below(4) == 0);
      left -= cpu;
    }
    const Amounts asked{{"cpu", 1 + static_cast<int64_t>(rng.below(40))}};
    const Claim claim{world.owner, asked, PodKind::kPreemptible, {}, {}, {}};
    world.ledger.request(world.owner, asked, +1);
    const auto allowed = reclaimable(world.ledger, claim, world.debtors);
    const auto choice = reclaim(world.ledger, claim, world.debtors);
    const auto admits = [&](const std::vector<size_t>& gone) {
      for (size_t at : gone)
        world.ledger.use(world.debtors[at].quota, *world.debtors[at].request, -1);
      const bool out = !judge(world.ledger, world.owner, asked, claim.kind, claim.rules);
      for (size_t at : gone)
        world.ledger.use(world.debtors[at].quota, *world.debtors[at].request, +1);
      return out;
    };
    ASSERT_EQ(choice.enough, admits(allowed));
    begun += choice.enough;
    if (choice.enough) {
      ASSERT_TRUE(admits(choice.candidates()));
    } else {
      ASSERT_TRUE(choice.leavers.empty());
    }
  }
  EXPECT_GT(begun, 0);
}

}  // namespace
}  // namespace mangrove::placement
