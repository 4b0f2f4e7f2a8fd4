#include "agent/memory/ladder.h"

#include <gtest/gtest.h>

#include "agent/memory/forecast.h"
#include "base/number/rng.h"

namespace mangrove::agent {
namespace {

constexpr Bytes mib(int64_t n) {
  return kMiB * n;
}

BatchGroup cache(int64_t size, int64_t priority = 0) {
  return {.current = mib(size), .file = mib(size), .anonymous = {}, .priority = priority};
}
// Loses all its work, and nothing by its restart.
BatchGroup heap(int64_t size, int64_t priority = 0, double work = 0) {
  BatchGroup out{
      .current = mib(size), .file = {}, .anonymous = mib(size), .priority = priority, .work = work};
  out.stake.progress = {
      .says = victims::Progress::Says::kNothing, .cores = 1, .restart = Duration::zero()};
  return out;
}
const WallTime kNow{std::chrono::hours(1000)};
std::vector<size_t> gone(const std::vector<BatchGroup>& groups, int64_t missing) {
  std::vector<size_t> out;
  for (const Rung& rung : leastLoss(groups, mib(missing), kNow)) out.push_back(rung.group);
  return out;
}

constexpr RungsThere kV2{.high = true, .reclaim = true, .freeze = true, .evict = true};
constexpr RungsThere kV1{.limit = true, .freeze = true, .evict = true};

// "high:0:100 reclaim:0:64"
std::string said(const std::vector<Rung>& rungs) {
  std::string out;
  for (const Rung& rung : rungs) {
    if (!out.empty()) out += " ";
    out += std::string(rungName(rung.kind)) + ":" + std::to_string(rung.group) + ":" +
           std::to_string(rung.bytes.v / kMiB.v);
  }
  return out;
}

std::string climbed(int64_t wanted, std::vector<BatchGroup> groups, RungsThere there) {
  return said(climb({mib(wanted), groups, there}));
}

TEST(Ladder, TakesPageCacheBeforeAnythingElse) {
  EXPECT_EQ(climbed(0, {cache(200)}, kV2), "");
  EXPECT_EQ(climbed(100, {cache(200)}, kV2), "high:0:100 reclaim:0:64");
  EXPECT_EQ(climbed(100, {cache(200)}, kV1), "limit:0:64");
  // Lowest priority first; the next one for what is still missing.
  EXPECT_EQ(climbed(100, {cache(200, 9), cache(100, 1)}, kV1), "limit:1:64 limit:0:10");
}

TEST(Ladder, SkipsWhatCannotHelp) {
  // Without swap anonymous pages cannot be reclaimed: nobody tries, and nobody who holds still is
  // frozen.
  EXPECT_EQ(climbed(100, {heap(200)}, kV2), "evict:0:200");
  RungsThere swap = kV2;
  swap.swap = true;
  EXPECT_EQ(climbed(100, {heap(200)}, swap), "high:0:100 reclaim:0:64");
  std::vector<BatchGroup> growing{heap(200)};
  growing[0].growing = true;
  EXPECT_EQ(climbed(100, growing, kV1), "freeze:0:0 evict:0:200");
  growing[0].frozen = true;
  EXPECT_EQ(climbed(100, growing, kV1), "evict:0:200");
  // What freed nothing a moment ago is not tried again.
  std::vector<BatchGroup> tried{cache(200)};
  tried[0].spent = 1u << static_cast<unsigned>(RungKind::kLimit);
  EXPECT_EQ(climbed(100, tried, kV1), "evict:0:200");
  // Those who leave anyway count.
  std::vector<BatchGroup> leaving{heap(200), heap(300)};
  leaving[0].leaving = true;
  EXPECT_EQ(climbed(150, leaving, kV1), "");
  EXPECT_EQ(climbed(250, leaving, kV1), "evict:1:300");
  EXPECT_EQ(climbed(100, {heap(200)}, {}), "");
}

TEST(Ladder, LosesTheLeastWork) {
  struct Row {
    std::vector<BatchGroup> groups;
    int64_t missing;
    std::vector<size_t> gone;
  };
  for (const Row& row : {
           // The one that suffices and has done least.
           Row{{heap(200, 0, 900), heap(150, 0, 10), heap(50, 0, 1)}, 100, {1}},
           // Priority before work.
           Row{{heap(200, 0, 900), heap(200, 5, 1)}, 100, {0}},
           // None suffices alone: the pair that loses least, the cheaper one first.
           Row{{heap(100, 0, 5), heap(80, 0, 5), heap(30, 0, 1)}, 120, {2, 0}},
           // A small one of low priority is spared when a larger one is needed anyway.
           Row{{heap(10, 0, 1), heap(200, 5, 1)}, 100, {1}},
           Row{{heap(10), heap(20)}, 100, {0, 1}},
           // Nobody loses their work for next to nothing.
           Row{{heap(5), heap(20)}, 15, {1}},
           Row{{heap(9)}, 100, {}},
       })
    EXPECT_EQ(gone(row.groups, row.missing), row.gone) << row.missing;
}

// The one order: class before priority, gangs whole with their small members, who saved lately first,
// and a sentence that names the next one.
TEST(Ladder, GoesByTheOneOrderOfVictims) {
  std::vector<BatchGroup> groups{heap(200, 5, 900), heap(200, 5, 900), heap(4, 5, 900),
                                 heap(200, 5, 900)};
  for (BatchGroup& group : groups) group.stake.progress.started = kNow - std::chrono::hours(1);
  groups[0].stake.name = "ns/old";
  groups[1].stake.gang = groups[2].stake.gang = "ns/g";
  groups[3].stake.name = "ns/saved";
  groups[3].stake.progress.says = victims::Progress::Says::kSaves;
  groups[3].stake.progress.saved = kNow - std::chrono::seconds(10);
  const std::vector<Rung> rungs = leastLoss(groups, mib(100), kNow);
  ASSERT_EQ(rungs.size(), 1u);
  EXPECT_EQ(rungs[0].group, 3u);
  EXPECT_EQ(
      rungs[0].loss,
      "loses 10 core seconds of work and 0 for its restart; ns/old would have lost 900 and 0");
  groups[0].stake.rank = groups[3].stake.rank = 1;  // of a higher class than the gang
  EXPECT_EQ(gone(groups, 100), (std::vector<size_t>{1, 2})) << "a gang goes whole";
  groups[2].evictable = false;
  EXPECT_EQ(gone(groups, 100), std::vector<size_t>{3}) << "or not at all";
}

// Whatever the machine: nobody is evicted while page cache would do, nobody needlessly.
TEST(Ladder, HoldsForRandomMachines) {
  for (uint64_t seed = 1; seed <= 5000; ++seed) {
    Rng rng(seed);
    std::vector<BatchGroup> groups(rng.below(6));
    Bytes file, evictable;
    for (BatchGroup& group : groups) {
      group.file = mib(rng.between(0, 300));
      group.anonymous = mib(rng.between(0, 300));
      group.current = group.file + group.anonymous;
      group.priority = rng.between(0, 3);
      group.work = rng.unit() * 100;
      group.growing = rng.chance(0.5);
      file += group.file * 90 / 100;
      evictable += group.current;
    }
    const Bytes wanted = mib(rng.between(1, 800));
    Bytes freed;
    size_t evictions = 0;
    Bytes smallest = Bytes::max();
    for (const Rung& rung : climb({wanted, groups, rng.chance(0.5) ? kV1 : kV2})) {
      if (rung.kind != RungKind::kEvict) {
        EXPECT_LE(rung.bytes, wanted);
        continue;
      }
      ++evictions;
      freed += rung.bytes;
      smallest = std::min(smallest, rung.bytes);
    }
    if (file - mib(8) > wanted) {
      EXPECT_EQ(evictions, 0u) << seed;
    }
    if (evictions > 0) {
      EXPECT_LT(freed - smallest, wanted) << seed;
    }
  }
}

TEST(MemoryForecast, WantsRoomForWhatGrows) {
  MemoryForecast forecast({.marginShare = 0.05, .leastMargin = mib(8)});
  MonoTime now{};
  const auto see = [&](int64_t used, double stalled = 0) {
    now += std::chrono::milliseconds(100);
    return forecast.see({now, mib(1000), mib(used), stalled});
  };
  EXPECT_EQ(see(900).wanted.v, 0);
  const MemoryNeed grown = see(960);
  EXPECT_GT(grown.wanted.v, 0);
  EXPECT_EQ(grown.wanted, grown.keep - mib(40));
  // Holds still above the margin: nothing to do, however full it looks.
  for (int i = 0; i < 200; ++i) see(940);
  EXPECT_EQ(see(940).wanted.v, 0);
  EXPECT_NEAR(see(940).growth, 0, 1e5);
  // Tasks stall for memory: room now, whatever the numbers say.
  EXPECT_EQ(see(940, 0.2).wanted, mib(64));
  EXPECT_TRUE(see(940, 0.2).stalling);
}

TEST(MemoryForecast, SeesTheEndComing) {
  MemoryForecast forecast;
  MonoTime now{};
  MemoryNeed need;
  // 100 MiB/s towards 1000 MiB: noticed while there is room for about three seconds.
  int64_t used = 400;
  for (; used < 1000 && need.wanted.v == 0; used += 10) {
    need = forecast.see({now, mib(1000), mib(used), 0});
    now += std::chrono::milliseconds(100);
  }
  EXPECT_GT(need.room, mib(250));
  EXPECT_LT(need.room, mib(380));
  ASSERT_TRUE(need.exhausted);
  EXPECT_NEAR(std::chrono::duration<double>(*need.exhausted).count(), 3.0, 0.7);
}

}  // namespace
}  // namespace mangrove::agent
