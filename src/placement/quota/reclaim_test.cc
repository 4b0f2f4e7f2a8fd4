// Reclaim that suffices or does not begin.
#include "placement/quota/reclaim.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <gmock/gmock.h>

#include "api/wire/names.h"
#include "base/number/rng.h"
#include "base/testing/size.h"

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

TEST(Reclaim, GangsGiveWhatTheyDoNotNeedFirst) {
  TwoTenants world;
  for (int i = 0; i < 5; i++) world.run(world.borrower, 20, 1);
  for (int i = 0; i < 5; i++) world.debtors[i].candidate.gang = "g";
  world.debtors[1].candidate.surplus = world.debtors[4].candidate.surplus = true;
  const auto one = world.claim(world.owner, 20).candidates();
  ASSERT_EQ(one.size(), 1u);
  EXPECT_TRUE(one[0] == 1 || one[0] == 4);
  EXPECT_THAT(world.claim(world.owner, 40).candidates(), UnorderedElementsAre(1, 4));
}

// A set that may leave: of a gang nobody, only members it does not need, or all.
bool isWholesome(const std::vector<Debtor>& debtors, const std::vector<size_t>& gone) {
  const std::set<size_t> left(gone.begin(), gone.end());
  std::map<std::string, size_t> staying;
  std::set<std::string> broken;  // gangs that lose a member they need
  for (size_t i = 0; i < debtors.size(); i++) {
    const victims::Candidate& one = debtors[i].candidate;
    if (one.gang.empty()) continue;
    if (!left.contains(i)) staying[one.gang]++;
    if (left.contains(i) && !one.surplus) broken.insert(one.gang);
  }
  return std::none_of(broken.begin(), broken.end(),
                      [&](const std::string& gang) { return staying.contains(gang); });
}

// Wherever a search through all sets finds one that suffices, an equally cheap one is taken.
TEST(Reclaim, NoSufficientSetIsCheaper) {
  Rng rng(6);
  const int wanted = sized(150, 10000);
  const WallTime now{std::chrono::hours(1000)};
  int found = 0;
  for (int round = 0; round < wanted; round++) {
    TwoTenants world;
    const QuotaId third = world.quota("third", 100, 20, "p");
    for (int64_t left = 100; left > 0 && world.debtors.size() < 12;) {
      const int64_t cpu = world.debtors.size() == 11
                              ? left
                              : std::min<int64_t>(left, 5 + static_cast<int64_t>(rng.below(20)));
      world.run(rng.below(2) == 0 ? world.borrower : third, cpu, 1, rng.below(6) == 0);
      victims::Candidate& made = world.debtors.back().candidate;
      made.progress.cores = static_cast<double>(1 + rng.below(16));
      made.progress.says = victims::Progress::Says::kNothing;
      made.progress.started = now - std::chrono::seconds(1 + rng.below(7200));
      if (rng.below(3) == 0) {
        made.gang = "g" + std::to_string(rng.below(2));
        made.surplus = rng.below(2) == 0;
      }
      left -= cpu;
    }
    const Amounts asked{{"cpu", 1 + static_cast<int64_t>(rng.below(40))}};
    const Claim claim{world.owner, asked, PodKind::kPreemptible, {}, now, {}};
    world.ledger.request(world.owner, asked, +1);
    const auto allowed = reclaimable(world.ledger, claim, world.debtors);
    const auto choice = reclaim(world.ledger, claim, world.debtors);
    std::vector<victims::Candidate> candidates;
    for (size_t i : allowed) candidates.push_back(world.debtors[i].candidate);
    const auto cost = victims::costs(candidates, now);
    std::optional<double> best;
    for (size_t bits = 1; bits < size_t{1} << allowed.size(); bits++) {
      std::vector<size_t> gone;
      double sum = 0;
      for (size_t i = 0; i < allowed.size(); i++)
        if (((bits >> i) & 1) != 0) {
          gone.push_back(allowed[i]);
          sum += cost[i].total();
        }
      if ((best && sum >= *best) || !isWholesome(world.debtors, gone)) continue;
      for (size_t at : gone)
        world.ledger.use(world.debtors[at].quota, *world.debtors[at].request, -1);
      if (!judge(world.ledger, world.owner, asked, claim.kind, claim.rules)) best = sum;
      for (size_t at : gone)
        world.ledger.use(world.debtors[at].quota, *world.debtors[at].request, +1);
    }
    ASSERT_EQ(choice.enough, best.has_value()) << round;
    if (!choice.enough) continue;
    found++;
    ASSERT_TRUE(isWholesome(world.debtors, choice.candidates())) << round;
    double taken = 0;
    for (size_t at : choice.candidates())
      for (size_t i = 0; i < allowed.size(); i++)
        if (allowed[i] == at) taken += cost[i].total();
    ASSERT_LE(taken, *best + 1e-6) << round;
  }
  EXPECT_GT(found, wanted / 4);
}

// Whoever leaves admits the pod, and where all that may leave admit it, somebody does.
TEST(Reclaim, SufficesOrDoesNotBegin) {
  Rng rng(5);
  const int wanted = sized(300, 10000);
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
