#include "victims/cost.h"

#include <gtest/gtest.h>

namespace mangrove::victims {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const WallTime kNow{hours(1000)};

struct Row {
  const char* what;
  Progress progress;
  Cost cost;
};

TEST(VictimCost, TableOfClaims) {
  using Says = Progress::Says;
  const std::vector<Row> rows = {
      {"saved a minute ago",
       {Says::kSaves, 2, 0, kNow - hours(1), kNow - minutes(1), {}, {}},
       {120, 360}},
      {"a GPU counts 50 cores",
       {Says::kSaves, 0, 1, kNow - hours(1), kNow - minutes(1), {}, {}},
       {3'000, 9'000}},
      {"nothing can be saved",
       {Says::kNothing, 1, 0, kNow - hours(1), kNow - minutes(1), {}, {}},
       {3'600, 180}},
      {"saves, but has not yet", {Says::kSaves, 1, 0, kNow - hours(1), {}, {}, {}}, {3'600, 180}},
      {"saved in an earlier life",
       {Says::kSaves, 1, 0, kNow - minutes(1), kNow - hours(2), {}, {}},
       {60, 180}},
      {"saved in the future",
       {Says::kSaves, 1, 0, kNow - hours(1), kNow + hours(1), {}, {}},
       {0, 180}},
      {"its own restart", {Says::kSaves, 1, 0, kNow - hours(1), kNow, seconds(30), {}}, {0, 30}},
      {"no restart of a year",
       {Says::kSaves, 1, 0, kNow - hours(1), kNow, hours(8760), {}},
       {0, 3'600}},
      {"no negative restart", {Says::kSaves, 1, 0, kNow - hours(1), kNow, -seconds(5), {}}, {0, 0}},
      {"no more than was measured",
       {Says::kNothing, 8, 0, kNow - hours(1), {}, {}, 600.0},
       {600, 1'440}},
      {"less than was measured",
       {Says::kSaves, 8, 0, kNow - hours(1), kNow - seconds(10), {}, 600.0},
       {80, 1'440}},
      {"GPUs held are not CPU",
       {Says::kNothing, 0, 1, kNow - seconds(100), {}, {}, 7.0},
       {5'000, 9'000}},
  };
  for (const Row& row : rows) {
    const Candidate candidate{.name = row.what, .progress = row.progress};
    EXPECT_EQ(costs(std::span(&candidate, 1), kNow)[0], row.cost) << row.what;
  }
}

Candidate spoken(const char* kind, Duration unsaved) {
  Candidate c{.kind = kind};
  c.progress = {.says = Progress::Says::kSaves, .cores = 1, .started = kNow - hours(5)};
  c.progress.saved = kNow - std::chrono::duration_cast<std::chrono::microseconds>(unsaved);
  return c;
}
Candidate silent(const char* kind, double cores, Duration age) {
  Candidate c{.kind = kind};
  c.progress = {.cores = cores,
                .started = kNow - std::chrono::duration_cast<std::chrono::microseconds>(age)};
  return c;
}

TEST(VictimCost, SilenceIsTheMedianOfItsKind) {
  const std::vector<Candidate> all = {spoken("a", seconds(10)), spoken("a", seconds(50)),
                                      spoken("a", seconds(900)), spoken("b", seconds(7)),
                                      silent("a", 2, hours(9))};
  EXPECT_EQ(costs(all, kNow)[4], (Cost{100, 360}));
}

TEST(VictimCost, SilenceLosesNoMoreThanItsAge) {
  const std::vector<Candidate> all = {spoken("a", seconds(900)), silent("a", 1, seconds(5))};
  EXPECT_EQ(costs(all, kNow)[1].lost, 5);
}

// Most of the kind cannot save: how old those are who say so tells nothing about a silent one.
TEST(VictimCost, SilenceOfAKindThatNeverSavesLosesAllSinceItsStart) {
  Candidate never = spoken("a", {});
  never.progress.says = Progress::Says::kNothing;
  never.progress.started = kNow - minutes(1);
  const std::vector<Candidate> all = {never, never, spoken("a", seconds(10)),
                                      silent("a", 2, minutes(10))};
  EXPECT_EQ(costs(all, kNow)[3].lost, 1'200);
  const std::vector<Candidate> fewer = {never, spoken("a", seconds(10)), spoken("a", seconds(30)),
                                        silent("a", 2, minutes(10))};
  EXPECT_EQ(costs(fewer, kNow)[3].lost, 60);
}

TEST(VictimCost, OfAKindThatNobodySpeaksForTheMedianOfAll) {
  const std::vector<Candidate> all = {spoken("b", seconds(40)), silent("a", 1, hours(9))};
  EXPECT_EQ(costs(all, kNow)[1].lost, 40);
}

TEST(VictimCost, WhereNobodySpeaksAllSinceTheStart) {
  const std::vector<Candidate> all = {silent("a", 1, minutes(2))};
  EXPECT_EQ(costs(all, kNow)[0], (Cost{120, 180}));
}

TEST(VictimCost, AWiderViewsMedianWins) {
  const std::vector<Candidate> all = {spoken("a", seconds(900)), silent("a", 1, hours(9))};
  EXPECT_EQ(costs(all, kNow, {{"a", {33, 11}}})[1], (Cost{33, 11}));
}

}  // namespace
}  // namespace mangrove::victims
