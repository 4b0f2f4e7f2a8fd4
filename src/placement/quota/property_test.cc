// Random trees and histories: what must hold for every one of them.
#include <gtest/gtest.h>

#include "api/wire/names.h"
#include "base/number/rng.h"
#include "base/testing/size.h"
#include "placement/quota/judge.h"
#include "placement/quota/remedy.h"

namespace mangrove::placement {
namespace {

const Interned kCpu("cpu"), kMemory("memory");

// A tree of up to three levels with pods in its leaves.
struct World {
  World(Rng& random, LedgerRules rules) : rng(random), ledger(rules) {
    // Not enough for all, or plenty: then numbers follow each other without a division.
    ledger.setTotal(rng.below(2) == 0 ? amounts(1, 300) : amounts(300, 3000));
    QuotaTerms apart;
    apart.name = api::object::kDefaultQuota;
    apart.apart = true;
    apart.max = {{"cpu", 100}, {"memory", 100}};
    leaves.push_back(ledger.put(apart));
    const size_t tops = 1 + rng.below(3);
    for (size_t i = 0; i < tops; i++) grow("q" + std::to_string(i), "", 0);
  }

  Amounts amounts(int64_t least, int64_t most) {
    const auto any = [&] { return least + static_cast<int64_t>(rng.below(most - least + 1)); };
    return {{"cpu", any()}, {"memory", any()}};
  }
  void grow(const std::string& name, const std::string& parent, int depth) {
    QuotaTerms terms;
    terms.name = name;
    terms.parent = parent.empty() ? std::string(api::object::kRootQuota) : parent;
    terms.max = amounts(1, 200);
    terms.min = amounts(0, 80);
    terms.min.lowerTo(terms.max);
    terms.weight = rng.below(3) == 0 ? amounts(0, 5) : terms.max;
    terms.lends = rng.below(3) != 0;
    const QuotaId id = ledger.put(terms);
    if (depth == 2 || rng.below(3) == 0) return leaves.push_back(id);
    const size_t below = 1 + rng.below(3);
    for (size_t i = 0; i < below; i++) grow(name + "-" + std::to_string(i), name, depth + 1);
  }
  QuotaId leaf() { return leaves[rng.below(leaves.size())]; }
  PodKind kind() { return rng.below(5) == 0 ? PodKind::kFixed : PodKind::kPreemptible; }

  struct Pod {
    QuotaId quota;
    Amounts request;
    PodKind kind;
    bool assigned = false;
  };
  // A pod comes, and stays when there is room for it.
  void arrive(const AdmissionRules& rules) {
    Pod pod{leaf(), amounts(0, 30), kind()};
    ledger.request(pod.quota, pod.request, +1, pod.kind);
    pod.assigned = !judge(ledger, pod.quota, pod.request, pod.kind, rules);
    if (pod.assigned) ledger.use(pod.quota, pod.request, +1, pod.kind);
    pods.push_back(std::move(pod));
  }
  void leave() {
    if (pods.empty()) return;
    const size_t at = rng.below(pods.size());
    const Pod pod = pods[at];
    pods.erase(pods.begin() + static_cast<std::ptrdiff_t>(at));
    ledger.request(pod.quota, pod.request, -1, pod.kind);
    if (pod.assigned) ledger.use(pod.quota, pod.request, -1, pod.kind);
  }

  Rng& rng;
  QuotaLedger ledger;
  std::vector<QuotaId> leaves;
  std::vector<Pod> pods;
};

LedgerRules anyRules(Rng& rng) {
  return {rng.below(2) == 0, rng.below(4) == 0};
}

int64_t floorOf(const QuotaLedger& ledger, QuotaId id, Interned name) {
  const QuotaNumbers& numbers = ledger.numbers(id);
  const int64_t floor = std::max(numbers.scaledMin.amount(name), numbers.guaranteed.amount(name));
  const int64_t request = numbers.limitRequest.amount(name);
  return request > floor || !ledger.terms(id).lends ? floor : request;
}

// What children have together is at most what their parent has, unless their floors are more.
void expectDivided(const QuotaLedger& ledger, QuotaId parent) {
  for (Interned name : {kCpu, kMemory}) {
    int64_t sum = 0, floors = 0;
    for (QuotaId child : ledger.childrenOf(parent)) {
      sum += ledger.runtime(child).amount(name);
      floors += floorOf(ledger, child, name);
    }
    const int64_t total = parent == kRootId ? ledger.dividedTotal().amount(name)
                                            : ledger.runtime(parent).amount(name);
    ASSERT_LE(sum, std::max(total, floors)) << ledger.terms(parent).name;
  }
  for (QuotaId child : ledger.childrenOf(parent)) expectDivided(ledger, child);
}

// The same numbers as a tree that is told everything at once.
void expectSameAsFresh(World& world) {
  QuotaLedger fresh(world.ledger.rules());
  fresh.setTotal(world.ledger.total());
  for (QuotaId id : world.ledger.all()) fresh.put(world.ledger.terms(id));
  for (const World::Pod& pod : world.pods) {
    const QuotaId id = fresh.find(world.ledger.terms(pod.quota).name);
    fresh.request(id, pod.request, +1, pod.kind);
    if (pod.assigned) fresh.use(id, pod.request, +1, pod.kind);
  }
  for (QuotaId id : world.ledger.all()) {
    const QuotaNumbers& a = world.ledger.numbers(id);
    const QuotaNumbers& b = fresh.numbers(fresh.find(world.ledger.terms(id).name));
    ASSERT_TRUE(a.used.equalAmounts(b.used) && a.request.equalAmounts(b.request) &&
                a.fixedUsed.equalAmounts(b.fixedUsed) && a.runtime.equalAmounts(b.runtime) &&
                a.guaranteed.equalAmounts(b.guaranteed))
        << world.ledger.terms(id).name << " runtime " << textOf(a.runtime) << " and "
        << textOf(b.runtime);
  }
}

TEST(QuotaProperties, HistoriesKeepTheRules) {
  Rng rng(11);
  const int trees = sized(300, 100000);
  for (int i = 0; i < trees; i++) {
    World world(rng, anyRules(rng));
    for (int step = 0; step < 25; step++) {
      if (rng.below(3) == 0)
        world.leave();
      else
        world.arrive({true, true});
      if (rng.below(8) != 0) continue;
      ASSERT_NO_FATAL_FAILURE(expectSameAsFresh(world));
    }
    for (QuotaId id : world.ledger.all())
      for (Interned name : {kCpu, kMemory})
        ASSERT_LE(world.ledger.used(id).amount(name), world.ledger.terms(id).max.amount(name));
    ASSERT_NO_FATAL_FAILURE(expectDivided(world.ledger, kRootId));
    ASSERT_NO_FATAL_FAILURE(expectSameAsFresh(world));
    while (!world.pods.empty()) world.leave();
    for (QuotaId id : world.ledger.all()) ASSERT_TRUE(world.ledger.used(id).isZero());
  }
}

TEST(QuotaProperties, TheNamedChangeAdmitsAndOneUnitLessDoesNot) {
  Rng rng(12);
  const int wanted = sized(200, 10000);
  for (int refused = 0; refused < wanted;) {
    World world(rng, anyRules(rng));
    const AdmissionRules rules{rng.below(4) != 0, rng.below(4) != 0};
    for (int step = 0; step < 20; step++) world.arrive(rules);
    const QuotaId id = world.leaf();
    const Amounts asked = world.amounts(0, 60);
    const PodKind kind = world.kind();
    world.ledger.request(id, asked, +1, kind);
    if (!judge(world.ledger, id, asked, kind, rules)) continue;
    refused++;
    const auto changes = leastChange(world.ledger, id, asked, kind, rules);
    ASSERT_FALSE(changes.empty());
    for (const QuotaChange& change : changes) apply(world.ledger, change);
    ASSERT_FALSE(judge(world.ledger, id, asked, kind, rules));
    for (QuotaChange one : changes) {
      one.amount = 1;
      apply(world.ledger, one, -1);
      ASSERT_TRUE(judge(world.ledger, id, asked, kind, rules))
          << "one less: " << textOf(world.ledger, one);
      apply(world.ledger, one, +1);
    }
  }
}

}  // namespace
}  // namespace mangrove::placement
