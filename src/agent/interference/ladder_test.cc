#include "agent/interference/ladder.h"

#include <gtest/gtest.h>

#include "base/number/rng.h"
#include "json/value.h"

namespace mangrove::agent::interference {
namespace {

using K = Move::Kind;

LadderLimits limits() {
  LadderLimits out;
  out.ways = 20;
  out.offlineWays = 10;
  out.bandwidth = true;
  out.antagonistCores = 4;
  out.victimMayMove = true;
  return out;
}
LadderInput bad(double metric = 3.0, bool proven = true) {
  return {.anomalous = true, .metric = metric, .fence = 2, .proven = proven};
}
const LadderInput kCalm{.metric = 1.5, .fence = 2};

std::string told(const std::vector<Move>& moves) {
  std::string out;
  for (const Move& move : moves) {
    const char* kinds[] = {"stay", "down", "up", "proof", "exhausted"};
    out += fmt::format("{}{} {} {:g}", out.empty() ? "" : "; ", kinds[static_cast<int>(move.kind)],
                       rungName(move.rung).substr(0, 2), move.amount);
  }
  return out;
}

// T-IN-6.
TEST(Ladder, CacheWaysDownAndBack) {
  Ladder ladder(Resource::kCache, limits());
  EXPECT_EQ(told(ladder.step(bad(3.0))), "down L3 5");
  EXPECT_EQ(told(ladder.step(bad(2.8))), "down L3 2");
  EXPECT_EQ(told(ladder.step(bad(2.6))), "down L5 3.2") << "the limit, and it helped";
  ASSERT_EQ(ladder.taken().size(), 2u);
  // Recovery: the last rung first.
  for (double cores : {3.4, 3.6, 3.8, 4.0}) {
    EXPECT_EQ(told(ladder.step(kCalm)), "");
    EXPECT_EQ(told(ladder.step(kCalm)), "");
    EXPECT_EQ(told(ladder.step(kCalm)), fmt::format("up L5 {:g}", cores));
  }
  for (int ways = 3; ways <= 10; ++ways) {
    ladder.step(kCalm);
    ladder.step(kCalm);
    EXPECT_EQ(told(ladder.step(kCalm)), fmt::format("up L3 {}", ways));
  }
  EXPECT_TRUE(ladder.isIdle());
}

TEST(Ladder, OneAnomalyBeginsTheCalmAnew) {
  Ladder ladder(Resource::kCache, limits());
  ladder.step(bad());
  ladder.step(kCalm);
  ladder.step(kCalm);
  EXPECT_EQ(told(ladder.step(bad())), "down L3 2");
  ladder.step(kCalm);
  ladder.step(kCalm);
  EXPECT_EQ(told(ladder.step(kCalm)), "up L3 3");
}

TEST(Ladder, AsksForProofBeforeAnythingAgainstOnePod) {
  for (int i = 0; i <= static_cast<int>(Resource::kUnknown); ++i) {
    LadderLimits unknown = limits();
    unknown.antagonistCores = 0;
    Ladder ladder(static_cast<Resource>(i), unknown);
    bool asked = false;
    for (int round = 0; round < 20; ++round) {
      LadderInput input = bad(9.0, false);
      input.severe = round % 2 == 0;
      for (const Move& move : ladder.step(input)) {
        asked = asked || move.kind == K::kAskProof;
        EXPECT_FALSE(move.kind == K::kDown && isAgainstOnePod(move.rung))
            << resourceName(static_cast<Resource>(i)) << " " << rungName(move.rung);
      }
    }
    EXPECT_TRUE(asked);
  }
}

TEST(Ladder, SevereAnomaliesJumpTwoSteps) {
  Ladder ladder(Resource::kCache, limits());
  LadderInput input = bad(9);
  input.severe = true;
  EXPECT_EQ(told(ladder.step(input)), "down L3 5; down L3 2");
  input.metric = 8;
  EXPECT_EQ(told(ladder.step(input)), "down L5 3.2; down L5 2.56");
}

TEST(Ladder, ARungThatDoesNotHelpIsTakenBack) {
  Ladder ladder(Resource::kBandwidth, limits());
  for (double percent : {50.0, 25.0, 12.0, 10.0})
    EXPECT_EQ(told(ladder.step(bad(3))), fmt::format("down L4 {:g}", percent));
  EXPECT_EQ(told(ladder.step(bad(3))), "up L4 100; down L5 3.2");
  ASSERT_EQ(ladder.account().size(), 1u);
  EXPECT_FALSE(ladder.account()[0].helped);
  ASSERT_EQ(ladder.taken().size(), 1u);
}

TEST(Ladder, EveryResourceHasItsPath) {
  struct Row {
    Resource resource;
    std::string path;
  };
  const auto pathOf = [](Resource resource) {
    std::string out;
    for (const Rung rung : rungsFor(resource)) out += std::string(rungName(rung)) + ",";
    return out;
  };
  const std::string end = "L7 eviction,L8 migration of the victim,";
  for (const Row& row :
       {Row{Resource::kCpu, "L1 idle class,L2 off the siblings,L5 CPU quota,L6 hard cap," + end},
        {Resource::kCache, "L3 cache ways,L5 CPU quota,L6 hard cap," + end},
        {Resource::kBandwidth, "L4 memory bandwidth,L5 CPU quota,L6 hard cap," + end},
        {Resource::kIo, "disk weight,L6 hard cap," + end},
        {Resource::kNetwork, "network class," + end},
        {Resource::kMemory, "memory throttle," + end},
        {Resource::kPower, "L5 CPU quota,L6 hard cap," + end},
        {Resource::kUnknown, "L5 CPU quota,L6 hard cap," + end}})
    EXPECT_EQ(pathOf(row.resource), row.path);
}

TEST(Ladder, SkipsWhatIsNotThereOrSwitchedOff) {
  LadderLimits none = limits();
  none.ways = 0;
  none.off = {Rung::kQuota};
  Ladder ladder(Resource::kCache, none);
  EXPECT_EQ(told(ladder.step(bad())), "down L6 0.01");
  none.bestEffort = false;
  none.mayLeave = false;
  none.victimMayMove = false;
  Ladder other(Resource::kCache, none);
  EXPECT_EQ(told(other.step(bad())), "down L6 0.1");
  EXPECT_EQ(other.step(bad()).back().kind, K::kExhausted);
}

TEST(Ladder, DropsWhatIsAgainstAnInnocent) {
  Ladder ladder(Resource::kCache, limits());
  ladder.step(bad(3.0));
  ladder.step(bad(2.8));
  ladder.step(bad(2.5));
  EXPECT_EQ(told(ladder.dropAntagonist()), "up L5 4");
  ASSERT_EQ(ladder.taken().size(), 1u);
  EXPECT_EQ(ladder.taken()[0].rung, Rung::kCacheWays);
}

TEST(Ladder, GoesOnInTheNextLife) {
  Ladder ladder(Resource::kCache, limits());
  ladder.step(bad(3.0));
  ladder.step(bad(2.8));
  Ladder next(Resource::kCache, limits());
  next.restore(ladder.state());
  EXPECT_EQ(json::write(next.state()), json::write(ladder.state()));
  EXPECT_EQ(told(next.step(bad(2.5))), "down L5 3.2");
}

// Whatever happens, in the end everything is given back, and nothing is ever below its limit.
TEST(Ladder, AlwaysEndsWhereItBegan) {
  Rng rng(31);
  for (int life = 0; life < 300; ++life) {
    const auto resource = static_cast<Resource>(rng.below(8));
    LadderLimits some = limits();
    some.ways = rng.below(2) == 0 ? 0 : 20;
    some.bandwidth = rng.below(2) == 0;
    some.antagonistCores = 0.2 + 8 * rng.unit();
    Ladder ladder(resource, some);
    for (int i = 0; i < 40; ++i) {
      ladder.step({rng.below(3) != 0, rng.below(4) == 0, 1 + 4 * rng.unit(), 2, rng.below(2) == 0});
      for (const Ladder::Taken& one : ladder.taken()) {
        EXPECT_LE(one.amount, one.full);
        if (one.rung == Rung::kCacheWays) {
          EXPECT_GE(one.amount, 2);
        }
        if (one.rung == Rung::kBandwidth) {
          EXPECT_GE(one.amount, 10);
        }
        if (one.rung == Rung::kQuota) {
          EXPECT_GE(one.amount, 1);
        }
      }
    }
    for (int i = 0; i < 400 && !ladder.isIdle(); ++i) ladder.step(kCalm);
    EXPECT_TRUE(ladder.isIdle()) << resourceName(resource);
  }
}

// T-IN-7.
TEST(LatencyRuling, ByWhatIsLeftOfThePromise) {
  using L = LatencyRuling::Kind;
  struct Row {
    double tail, load;
    bool wasOff;
    L kind;
  };
  for (const Row& row : {Row{97, 0.5, false, L::kShrink},
                         {104, 0.5, false, L::kOff},
                         {92, 0.5, false, L::kNoGrowth},
                         {50, 0.5, false, L::kFree},
                         {50, 0.86, false, L::kOff},
                         {50, 0.82, true, L::kOff},
                         {50, 0.79, true, L::kFree}})
    EXPECT_EQ(latencyRuling(100, row.tail, row.load, row.wasOff).kind, row.kind) << row.tail;
  EXPECT_EQ(latencyRuling(100, 97, 0.5, false).coresPerSocket, 2);
  EXPECT_EQ(latencyRuling(100, 104, 0.5, false).lasts, std::chrono::seconds(300));
  EXPECT_NEAR(coresToShed(95, 100, 2.5), 2, 1e-9);
  EXPECT_EQ(coresToShed(89, 100, 2.5), 0);
}

}  // namespace
}  // namespace mangrove::agent::interference
