// Made weeks: what the coming hours are told to bring, and that less is for sale before a peak that
// comes every week.
#include "agent/almanac/seasons.h"

#include <functional>

#include <gtest/gtest.h>

#include "agent/almanac/serve.h"
#include "agent/predict/reclaim.h"
#include "base/os/temp_folder.h"
#include "base/text/interned.h"

namespace mangrove::agent {
namespace {

constexpr int64_t kStart = 20'000 * 1440;  // midnight

// Two samples of every minute: the node, and a prod pod that uses `cores`.
void live(Almanac& almanac, int64_t from, int64_t to, const std::function<double(int64_t)>& cores) {
  auto pod = std::make_shared<api::Pod>();
  pod->meta.name = "web-1";
  pod->meta.ns = Interned("shop");
  for (int64_t minute = from; minute < to; ++minute)
    for (int second : {5, 35}) {
      PodLook one;
      one.pod = pod;
      one.qos = api::Qos::kLs;
      one.band = api::PriorityBand::kProd;
      one.usage.cpu = cores(minute);
      one.usage.memory = Bytes{int64_t{2} << 30};
      Look look;
      look.wall = WallTime(std::chrono::minutes(minute) + std::chrono::seconds(second));
      look.node.usage = one.usage;
      look.pods = std::span(&one, 1);
      almanac.see(look);
    }
}

TEST(Seasons, APeakOfEveryMorningIsKnownBeforeItComes) {
  const TempFolder dir = TempFolder::inMemory("seasons");
  Almanac almanac(dir.path());
  live(almanac, kStart, kStart + 3 * 1440,
       [](int64_t minute) { return minute / 60 % 24 == 9 ? 6.0 : 1.0; });
  const int64_t today = kStart + 3 * 1440;
  const auto at = [&](int64_t hour) {
    Seasons seasons(almanac);
    return seasons.coming("band/koord-prod", today + hour * 60);
  };
  ASSERT_TRUE(at(8));
  EXPECT_NEAR(at(8)->cpu, 6000, 180);
  EXPECT_NEAR(at(8)->memory, 2048, 60);
  ASSERT_TRUE(at(12));
  EXPECT_NEAR(at(12)->cpu, 1000, 30);
  EXPECT_FALSE(Seasons(almanac).coming("band/koord-batch", today)) << "nobody of it was there";
}

TEST(Seasons, LastWeekCountsWhereYesterdayWasQuiet) {
  const TempFolder dir = TempFolder::inMemory("seasons");
  Almanac almanac(dir.path());
  live(almanac, kStart, kStart + 7 * 1440,
       [](int64_t minute) { return minute < kStart + 1440 && minute / 60 % 24 >= 9 ? 8.0 : 0.5; });
  Seasons seasons(almanac);
  const auto monday = seasons.coming("class/LS", kStart + 7 * 1440 + 8 * 60);
  ASSERT_TRUE(monday);
  EXPECT_NEAR(monday->cpu, 8000, 240);
  const auto kept = seasons.coming("class/LS", kStart + 7 * 1440 + 8 * 60 + 9);
  EXPECT_EQ(kept->cpu, monday->cpu);
}

TEST(Seasons, HalfOfTheHoursMustBeKnownAndSpikesAreNoPeak) {
  std::vector<AlmanacAnswer> cells;
  for (int64_t i = 0; i < 60; ++i) cells.push_back({i, 1, {{0, 100, 0}, {0, 10, 0}}});
  EXPECT_TRUE(peakOf(cells, 120));
  EXPECT_FALSE(peakOf(std::span(cells).first(59), 120));
  EXPECT_FALSE(peakOf({}, 120));
  cells[7].cell.cpu.p90 = 9000;
  EXPECT_EQ(peakOf(cells, 60)->cpu, 100) << "one minute of sixty";
  cells[8].cell.cpu.p90 = cells[9].cell.cpu.p90 = cells[10].cell.cpu.p90 = 9000;
  EXPECT_EQ(peakOf(cells, 60)->cpu, 9000);
}

TEST(Seasons, AreToldToWhoAsks) {
  const TempFolder dir = TempFolder::inMemory("seasons");
  Almanac almanac(dir.path());
  live(almanac, kStart, kStart + 1440, [](int64_t) { return 2.0; });
  const auto told = answerAlmanac(almanac, "/almanac?subject=node&ahead=2", kStart + 1440);
  ASSERT_TRUE(told) << told.error().text();
  EXPECT_NEAR(told->at("coming").at("cpuMilli").to_number<double>(), 2000, 60);
  const auto none = answerAlmanac(almanac, "/almanac?subject=node&ahead=2", kStart + 9 * 1440);
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->at("coming").is_null());
}

// A season raises what is expected, never what is trusted, and never sells more.
TEST(Reclaim, WhatComesEveryWeekIsNotForSale) {
  const Peak model{MilliCpu{1000}, Bytes{4 << 20}};
  const Peak week{MilliCpu{3000}, Bytes{1 << 20}};
  EXPECT_EQ(withSeason(model, week)->cpu, MilliCpu{3000});
  EXPECT_EQ(withSeason(model, week)->memory, Bytes{4 << 20});
  EXPECT_EQ(withSeason(model, std::nullopt)->cpu, MilliCpu{1000});
  EXPECT_FALSE(withSeason(std::nullopt, week)) << "a cold start stays one";
}

}  // namespace
}  // namespace mangrove::agent
