#include "placement/quota/split.h"

#include <numeric>

#include <gmock/gmock.h>

#include "base/number/rng.h"
#include "base/testing/size.h"

namespace mangrove::placement {
namespace {

using ::testing::ElementsAre;
using Split = std::vector<Share>;
using Values = std::vector<int64_t>;

Share ofLender(int64_t weight, int64_t request, int64_t floor) {
  return {weight, request, floor, true};
}
Share ofKeeper(int64_t weight, int64_t request, int64_t floor) {
  return {weight, request, floor, false};
}

struct Row {
  const char* what;
  int64_t total;
  Split children;
  Values runtime;
};

TEST(WaterFill, DividesAsRecorded) {
  const Split four{ofLender(40, 5, 10), ofLender(60, 20, 15), ofLender(50, 40, 20),
                   ofLender(80, 70, 15)};
  Split weightless = four, guaranteed = four;
  weightless[3].weight = guaranteed[3].weight = 0;
  guaranteed[3].floor = 45;
  Split gpus{ofLender(1, 100, 8), ofLender(1, 100, 8), ofLender(1, 100, 8), ofLender(1, 100, 8),
             ofLender(1, 100, 8), ofLender(1, 100, 8), ofLender(1, 100, 8), ofLender(1, 100, 8),
             ofLender(1, 100, 7), ofLender(1, 100, 7), ofLender(1, 0, 3)};
  const std::vector<Row> rows{
      {"surplus of the sated goes on", 100, four, {5, 20, 35, 40}},
      {"no weight, no part of the rest", 100, weightless, {5, 20, 40, 15}},
      {"a guarantee is a floor", 100, guaranteed, {5, 20, 30, 45}},
      {"ties by name", 10, {ofLender(1, 10, 0), ofLender(1, 10, 0), ofLender(1, 10, 0)}, {4, 3, 3}},
      {"largest remainder",
       7,
       {ofLender(3, 10, 0), ofLender(2, 10, 0), ofLender(1, 10, 0)},
       {4, 2, 1}},
      {"one unit for two", 1, {ofLender(1, 5, 0), ofLender(1, 5, 0)}, {1, 0}},
      {"gpus", 81, gpus, {9, 9, 9, 8, 8, 8, 8, 8, 7, 7, 0}},
      {"floors are granted beyond the total",
       100,
       {ofLender(1, 100, 50), ofLender(1, 100, 60)},
       {50, 60}},
      {"a keeper keeps its minimum",
       100,
       {ofKeeper(1, 10, 30), ofLender(1, 100, 50), ofLender(3, 30, 0)},
       {30, 55, 15}},
      {"nobody has weight", 100, {ofLender(0, 100, 20), ofLender(0, 100, 20)}, {20, 20}},
      {"guarantee above minimum", 100, {ofLender(1, 60, 50), ofLender(1, 90, 20)}, {60, 40}},
      {"three rounds",
       1000,
       {ofLender(1, 50, 0), ofLender(1, 200, 0), ofLender(1, 1000, 0)},
       {50, 200, 750}},
      {"lenders below their minimum", 50, {ofLender(1, 20, 80), ofLender(1, 10, 80)}, {20, 10}},
      {"nothing at all", 0, {ofLender(1, 5, 0)}, {0}},
  };
  for (const Row& row : rows)
    EXPECT_EQ(waterFill(row.total, row.children), row.runtime) << row.what;
}

TEST(WaterFill, ProductsBeyond64BitsAreExact) {
  constexpr int64_t huge = std::numeric_limits<int64_t>::max() / 5;
  const Split two{ofLender(huge, huge, 0), ofLender(huge, huge, 0)};
  EXPECT_THAT(waterFill(huge, two), ElementsAre(huge / 2 + huge % 2, huge / 2));
}

TEST(ScaledMins, Proportional) {
  const std::vector<MinShare> three{{100, true}, {100, true}, {100, true}};
  EXPECT_THAT(scaledMins(200, three), ElementsAre(66, 66, 66));
  EXPECT_THAT(scaledMins(300, three), ElementsAre(100, 100, 100));
  EXPECT_THAT(scaledMins(-5, three), ElementsAre(0, 0, 0));
}

TEST(ScaledMins, WhoDoesNotScaleComesFirst) {
  const std::vector<MinShare> mixed{{50, false}, {50, true}, {50, true}};
  EXPECT_THAT(scaledMins(100, mixed), ElementsAre(50, 25, 25));
  EXPECT_THAT(scaledMins(50, mixed), ElementsAre(50, 0, 0));
  EXPECT_THAT(scaledMins(200, mixed), ElementsAre(50, 50, 50));
}

TEST(WaterFill, HandsOutNeitherTooMuchNorTooLittle) {
  Rng rng(7);
  const int rounds = sized(5000, 200000);
  for (int i = 0; i < rounds; i++) {
    Split children(1 + rng.below(9));
    int64_t floors = 0, asked = 0;
    for (Share& child : children) {
      child = {static_cast<int64_t>(rng.below(4) * rng.below(1000)),
               static_cast<int64_t>(rng.below(200)), static_cast<int64_t>(rng.below(60)),
               rng.below(2) == 0};
    }
    const auto total = static_cast<int64_t>(rng.below(700));
    const Values runtime = waterFill(total, children);
    bool someoneWaits = false;
    for (size_t at = 0; at < children.size(); at++) {
      const Share& child = children[at];
      floors += child.request > child.floor || !child.lends ? child.floor : child.request;
      asked += std::max(child.request, child.lends ? 0 : child.floor);
      EXPECT_LE(runtime[at], std::max(child.request, child.floor));
      someoneWaits = someoneWaits || (runtime[at] < child.request && child.weight > 0);
    }
    const int64_t sum = std::accumulate(runtime.begin(), runtime.end(), int64_t{0});
    ASSERT_LE(sum, std::max(total, floors));
    if (someoneWaits) {
      ASSERT_EQ(sum, std::max(total, floors));
    } else {
      ASSERT_LE(sum, asked);
    }
  }
}

}  // namespace
}  // namespace mangrove::placement
