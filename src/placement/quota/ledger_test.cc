// Trees by their numbers: requests held down by maxima on their way up, minimums kept or lent,
// scaled when there is not enough, and what stands apart.
#include "placement/quota/ledger.h"

#include <gmock/gmock.h>

#include "api/wire/names.h"
#include "placement/quota/judge.h"

namespace mangrove::placement {
namespace {

const Interned kCpu("cpu");

struct Tree {
  explicit Tree(int64_t total, LedgerRules rules = {}) : ledger(rules) { grow(total); }

  void grow(int64_t total) { ledger.setTotal({{"cpu", total}}); }
  QuotaId quota(const std::string& name, int64_t max, int64_t min, const std::string& parent = "",
                bool lends = true, int64_t weight = -1) {
    QuotaTerms terms;
    terms.name = name;
    terms.parent = parent.empty() ? std::string(api::object::kRootQuota) : parent;
    terms.lends = lends;
    terms.max = {{"cpu", max}};
    terms.min = {{"cpu", min}};
    terms.weight = {{"cpu", weight < 0 ? max : weight}};
    return ledger.put(terms);
  }
  QuotaId keeper(const std::string& name, int64_t max, int64_t min,
                 const std::string& parent = "") {
    return quota(name, max, min, parent, false);
  }
  // Changes what the quota's pods ask for to this.
  void ask(const std::string& name, int64_t amount) {
    const QuotaId id = ledger.find(name);
    const int64_t now = ledger.numbers(id).selfRequest.amount(kCpu);
    ledger.request(id, {{"cpu", amount - now}}, +1);
  }
  void use(const std::string& name, int64_t amount) {
    ledger.use(ledger.find(name), {{"cpu", amount}}, +1);
  }
  int64_t runtime(const std::string& name) {
    return ledger.runtime(ledger.find(name)).amount(kCpu);
  }
  const QuotaNumbers& of(const std::string& name) { return ledger.numbers(ledger.find(name)); }
  std::vector<int64_t> runtimes(std::initializer_list<const char*> names) {
    std::vector<int64_t> out;
    for (const char* name : names) out.push_back(runtime(name));
    return out;
  }

  QuotaLedger ledger;
};

using ::testing::ElementsAre;

TEST(QuotaLedger, RequestsAreHeldDownToTheMaximum) {
  Tree tree(96);
  tree.quota("a", 96, 50);
  tree.quota("b", 96, 40);
  tree.ask("a", 120);
  tree.ask("b", 150);
  EXPECT_EQ(tree.of("a").limitRequest.amount(kCpu), 96);
  EXPECT_THAT(tree.runtimes({"a", "b"}), ElementsAre(53, 43));
}

TEST(QuotaLedger, TheOwnerTakesBackWhatItLent) {
  Tree tree(100, {.scaleMins = false});
  tree.quota("test1", 80, 60);
  tree.quota("test2", 100, 50);
  tree.ask("test2", 90);
  EXPECT_THAT(tree.runtimes({"test1", "test2"}), ElementsAre(0, 90));
  tree.ask("test1", 30);
  EXPECT_THAT(tree.runtimes({"test1", "test2"}), ElementsAre(30, 70));
  tree.ask("test1", 60);
  EXPECT_THAT(tree.runtimes({"test1", "test2"}), ElementsAre(60, 50));
  tree.ask("test1", 0);
  tree.ledger.erase(tree.ledger.find("test1"));
  EXPECT_EQ(tree.runtime("test2"), 90);
}

TEST(QuotaLedger, EqualWeightsShareTheRest) {
  Tree tree(120);
  tree.quota("test1", 80, 50, "", true, 1);
  tree.quota("test2", 100, 50, "", true, 1);
  tree.ask("test1", 100);
  tree.ask("test2", 150);
  EXPECT_THAT(tree.runtimes({"test1", "test2"}), ElementsAre(60, 60));
}

TEST(QuotaLedger, ARuntimeGoesDownAChain) {
  Tree tree(96);
  tree.quota("test1", 96, 50);
  tree.quota("a", 96, 50, "test1");
  tree.quota("leaf", 96, 50, "a");
  tree.ask("leaf", 96);
  EXPECT_THAT(tree.runtimes({"test1", "a", "leaf"}), ElementsAre(96, 96, 96));
  tree.quota("leaf", 64, 50, "a");
  EXPECT_THAT(tree.runtimes({"test1", "a", "leaf"}), ElementsAre(64, 64, 64));
  EXPECT_EQ(tree.of("leaf").request.amount(kCpu), 96);
  EXPECT_EQ(tree.of("a").request.amount(kCpu), 64);
  EXPECT_EQ(tree.of("test1").request.amount(kCpu), 64);
}

TEST(QuotaLedger, AParentsMaximumLimitsItsChildren) {
  Tree tree(350);
  tree.quota("parent", 300, 176);
  tree.quota("child", 500, 100, "parent");
  tree.ask("child", 400);
  EXPECT_EQ(tree.runtime("child"), 300);
  EXPECT_EQ(tree.of("parent").request.amount(kCpu), 400);
}

TEST(QuotaLedger, AParentSeesNoMoreThanTheChildsMaximum) {
  Tree tree(300);
  tree.quota("parent", 600, 0);
  tree.quota("child", 500, 0, "parent");
  tree.ask("child", 500);
  EXPECT_EQ(tree.runtime("child"), 300);
  tree.ask("child", 1050);
  EXPECT_EQ(tree.of("parent").request.amount(kCpu), 500);
}

TEST(QuotaLedger, WhoDoesNotLendKeepsItsMinimum) {
  Tree tree(100);
  tree.quota("test1", 96, 60);
  tree.keeper("test2", 96, 40);
  tree.ask("test1", 120);
  EXPECT_THAT(tree.runtimes({"test1", "test2"}), ElementsAre(60, 40));
}

TEST(QuotaLedger, KeepersBelowAKeeper) {
  Tree tree(200);
  tree.keeper("p", 200, 60);
  tree.keeper("c1", 200, 20, "p");
  tree.keeper("c2", 200, 20, "p");
  EXPECT_THAT(tree.runtimes({"p", "c1", "c2"}), ElementsAre(60, 20, 20));
  tree.ask("c1", 40);
  EXPECT_THAT(tree.runtimes({"p", "c1", "c2"}), ElementsAre(60, 40, 20));
  tree.ask("c1", 60);
  EXPECT_THAT(tree.runtimes({"p", "c1", "c2"}), ElementsAre(80, 60, 20));
}

TEST(QuotaLedger, AKeeperBelowALender) {
  Tree tree(200);
  tree.quota("p", 200, 60);
  tree.keeper("c1", 200, 20, "p");
  tree.quota("c2", 200, 20, "p");
  EXPECT_THAT(tree.runtimes({"p", "c1", "c2"}), ElementsAre(20, 20, 0));
  tree.ask("c1", 40);
  EXPECT_THAT(tree.runtimes({"p", "c1", "c2"}), ElementsAre(40, 40, 0));
}

struct Scaled : Tree {
  explicit Scaled(bool scale) : Tree(200000, {.scaleMins = scale}) {
    quota("p", 1000000, 300000);
    for (const char* name : {"a", "b", "c"}) {
      quota(name, 1000000, 100000, "p");
      ask(name, 200000);
    }
  }
};

TEST(QuotaLedger, MinimumsShrinkTogether) {
  Scaled tree(true);
  EXPECT_THAT(tree.runtimes({"p", "a", "b", "c"}), ElementsAre(200000, 66667, 66667, 66666));
  tree.grow(600000);
  EXPECT_THAT(tree.runtimes({"a", "b", "c"}), ElementsAre(200000, 200000, 200000));
  EXPECT_EQ(tree.of("a").scaledMin.amount(kCpu), 100000);
}

TEST(QuotaLedger, WhatIsScaledAndNotAskedForIsLent) {
  Scaled tree(true);
  tree.ask("b", 0);
  EXPECT_THAT(tree.runtimes({"a", "b", "c"}), ElementsAre(100000, 0, 100000));
}

TEST(QuotaLedger, WithoutScalingFloorsAreGranted) {
  Scaled tree(false);
  EXPECT_THAT(tree.runtimes({"p", "a", "b", "c"}), ElementsAre(300000, 100000, 100000, 100000));
}

TEST(QuotaLedger, WhatRunsIsGuaranteedUpwards) {
  Tree tree(100, {.guaranteeUsage = true});
  tree.quota("q1", 100, 20);
  tree.quota("q2", 100, 10, "q1");
  tree.quota("q3", 100, 5, "q1");
  const auto floors = [&] {
    return std::vector<int64_t>{
        tree.of("q2").allocated.amount(kCpu), tree.of("q2").guaranteed.amount(kCpu),
        tree.of("q1").allocated.amount(kCpu), tree.of("q1").guaranteed.amount(kCpu)};
  };
  tree.use("q2", 5);
  EXPECT_THAT(floors(), ElementsAre(5, 10, 15, 20));
  tree.use("q2", 10);
  EXPECT_THAT(floors(), ElementsAre(15, 15, 20, 20));
  tree.use("q2", 10);
  EXPECT_THAT(floors(), ElementsAre(25, 25, 30, 30));
}

QuotaTerms apart(std::string_view name, int64_t max) {
  QuotaTerms out;
  out.name = name;
  out.apart = true;
  out.max = {{"cpu", max}};
  return out;
}

TEST(QuotaLedger, TheRestIsDividedWithoutDefaultAndSystem) {
  Tree tree(100);
  tree.ledger.put(apart(api::object::kDefaultQuota, 1000));
  tree.ledger.put(apart(api::object::kSystemQuota, 1000));
  tree.use(std::string(api::object::kDefaultQuota), 10);
  tree.use(std::string(api::object::kSystemQuota), 5);
  EXPECT_EQ(tree.ledger.dividedTotal().amount(kCpu), 85);
}

TEST(QuotaLedger, AHugeDefaultMaximumTakesNothingFromTenants) {
  Tree tree(100000);
  tree.ledger.put(apart(api::object::kDefaultQuota, std::numeric_limits<int64_t>::max()));
  tree.ask(std::string(api::object::kDefaultQuota), 20000);
  tree.use(std::string(api::object::kDefaultQuota), 20000);
  tree.quota("a", 100000, 0, "", true, 1000);
  tree.quota("b", 100000, 0, "", true, 1000);
  tree.ask("a", 100000);
  tree.ask("b", 100000);
  EXPECT_THAT(tree.runtimes({"a", "b"}), ElementsAre(40000, 40000));
  tree.ask("b", 0);
  tree.quota("a", 100000, 0, "", true, 500);
  EXPECT_EQ(tree.runtime("a"), 80000);
}

TEST(QuotaLedger, ADeletedKeeperLeavesNothingBehind) {
  Tree tree(100);
  tree.quota("p", 100, 0);
  tree.keeper("leaf", 100, 80, "p");
  EXPECT_EQ(tree.of("p").request.amount(kCpu), 80);
  tree.ledger.erase(tree.ledger.find("leaf"));
  EXPECT_EQ(tree.of("p").request.amount(kCpu), 0);
}

TEST(QuotaLedger, AKeeperWithoutPodsCompetesWithItsWholeMinimum) {
  Tree tree(100);
  tree.keeper("k", 200, 150);
  tree.quota("other", 200, 50);
  tree.ask("other", 200);
  // Minimums scale to 75 and 25; nothing is left to compete for.
  EXPECT_THAT(tree.runtimes({"k", "other"}), ElementsAre(75, 25));
  EXPECT_EQ(tree.of("k").limitRequest.amount(kCpu), 150);
}

TEST(QuotaLedger, UnknownParentsAndCirclesCountAtTheTop) {
  Tree tree(100);
  tree.quota("orphan", 50, 10, "nobody");
  tree.quota("x", 50, 10, "y");
  tree.quota("y", 50, 10, "x");
  tree.ask("x", 20);
  EXPECT_EQ(tree.runtime("x"), 20);
  EXPECT_EQ(tree.ledger.parentOf(tree.ledger.find("orphan")), kRootId);
  EXPECT_EQ(tree.ledger.parentOf(tree.ledger.find("x")), kRootId);
}

TEST(QuotaLedger, PastBorrowingMakesAWeightSmaller) {
  Tree tree(100);
  tree.quota("busy", 100, 0, "", true, 1);
  tree.quota("patient", 100, 0, "", true, 1);
  tree.ask("busy", 100);
  tree.ask("patient", 100);
  EXPECT_THAT(tree.runtimes({"busy", "patient"}), ElementsAre(50, 50));
  tree.ledger.setPastUse(tree.ledger.find("busy"), {{"cpu", 50}});
  EXPECT_THAT(tree.runtimes({"busy", "patient"}), ElementsAre(33, 67));
  tree.ledger.setPastUse(tree.ledger.find("busy"), {});
  EXPECT_THAT(tree.runtimes({"busy", "patient"}), ElementsAre(50, 50));
}

// ---- admission

struct Admitting : Tree {
  explicit Admitting(int64_t total) : Tree(total, {.scaleMins = false}) {}
  std::optional<QuotaRefusal> tryPod(const std::string& name, const Amounts& asked,
                                     PodKind kind = PodKind::kPreemptible,
                                     AdmissionRules rules = {}) {
    const QuotaId id = ledger.find(name);
    ledger.request(id, asked, +1, kind);
    auto out = judge(ledger, id, asked, kind, rules);
    ledger.request(id, asked, -1, kind);
    return out;
  }
};

TEST(QuotaJudge, RefusesWhatExceedsTheRuntime) {
  Admitting tree(10);
  tree.quota("q", 100, 0);
  tree.ask("q", 8);
  tree.use("q", 8);
  const auto refusal = tree.tryPod("q", {{"cpu", 3}});
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->check, QuotaCheck::kQuota);
  ASSERT_EQ(refusal->shortages.size(), 1u);
  EXPECT_EQ(refusal->shortages[0].missing(), 1);
  EXPECT_FALSE(tree.tryPod("q", {{"cpu", 2}}));
}

TEST(QuotaJudge, AnOverusedResourceThatIsNotAskedForRefusesNobody) {
  Admitting tree(10);
  QuotaTerms terms;
  terms.name = "q";
  terms.max = terms.weight = {{"cpu", 10}, {"memory", 10}};
  const QuotaId id = tree.ledger.put(terms);
  tree.ledger.use(id, {{"memory", 12}}, +1);
  EXPECT_FALSE(tree.tryPod("q", {{"cpu", 1}}));
  EXPECT_TRUE(tree.tryPod("q", {{"memory", 1}}));
}

TEST(QuotaJudge, WhatCannotBeTakenBackFillsTheMinimumOnly) {
  Admitting tree(100);
  const QuotaId id = tree.quota("q", 100, 5);
  tree.ledger.request(id, {{"cpu", 4}}, +1, PodKind::kFixed);
  tree.ledger.use(id, {{"cpu", 4}}, +1, PodKind::kFixed);
  const auto refusal = tree.tryPod("q", {{"cpu", 2}}, PodKind::kFixed);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->check, QuotaCheck::kNonPreemptible);
  EXPECT_FALSE(tree.tryPod("q", {{"cpu", 2}}));
}

TEST(QuotaJudge, ParentsRefuseTooAndTheirPathIsNamed) {
  Admitting tree(100);
  tree.quota("p", 100, 100);
  tree.quota("full", 100, 0, "p");
  const QuotaId leaf = tree.quota("leaf", 100, 50, "p");
  tree.ask("full", 98);
  tree.use("full", 98);
  const auto refusal = tree.tryPod("leaf", {{"cpu", 5}});
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->check, QuotaCheck::kParent);
  EXPECT_THAT(refusal->path, ElementsAre(tree.ledger.find("p"), leaf));
  tree.ask("leaf", 5);
  EXPECT_EQ(messageOf(tree.ledger, *refusal, {{"cpu", 5}}, {}),
            "Insufficient quotas, quotaName: p, path: p/leaf, runtime: cpu=100m, used: cpu=98m, "
            "pod's request: cpu=5m, exceedDimensions: [cpu]");
  tree.ask("leaf", 0);
  EXPECT_FALSE(tree.tryPod("leaf", {{"cpu", 5}}, PodKind::kPreemptible, {true, false}));
}

TEST(QuotaJudge, TheDefaultQuotasMaximumCounts) {
  Admitting tree(100);
  tree.ledger.put(apart(api::object::kDefaultQuota, 10));
  const std::string name(api::object::kDefaultQuota);
  tree.ask(name, 10);
  tree.use(name, 10);
  EXPECT_TRUE(tree.tryPod(name, {{"cpu", 1}}));
}

TEST(QuotaJudge, AResourceNotDividedAboveIsLimitedByTheMaximum) {
  Admitting tree(100);
  tree.quota("p", 100, 0);
  QuotaTerms leaf;
  leaf.name = "leaf";
  leaf.parent = "p";
  leaf.max = leaf.weight = {{"cpu", 100}, {"gpu", 4}};
  tree.ledger.put(leaf);
  EXPECT_TRUE(tree.tryPod("leaf", {{"gpu", 5}}));
  EXPECT_FALSE(tree.tryPod("leaf", {{"gpu", 4}}));
}

TEST(QuotaJudge, AResourceTheQuotaLacksIsLimitedByItsParent) {
  Admitting tree(100);
  QuotaTerms parent;
  parent.name = "p";
  parent.max = parent.weight = {{"cpu", 100}, {"gpu", 4}};
  tree.ledger.put(parent);
  tree.ledger.setTotal({{"cpu", 100}, {"gpu", 8}});
  tree.quota("leaf", 100, 0, "p");
  EXPECT_FALSE(tree.tryPod("leaf", {{"gpu", 4}}));
  tree.ledger.use(tree.ledger.find("leaf"), {{"gpu", 4}}, +1);
  EXPECT_TRUE(tree.tryPod("leaf", {{"gpu", 1}}));
}

}  // namespace
}  // namespace mangrove::placement
