#include "stats/ewma.h"

#include <gtest/gtest.h>

namespace mangrove::stats {
namespace {

using namespace std::chrono_literals;

TEST(Ewma, FirstSampleIsTheAverage) {
  Ewma e(10s);
  EXPECT_EQ(e.value(), std::nullopt);
  e.add(MonoTime{}, 4);
  EXPECT_EQ(e.value(), 4);
}

TEST(Ewma, HalfTheDistanceInOneHalfLife) {
  Ewma e(10s);
  e.add(MonoTime{}, 4);
  e.add(MonoTime{10s}, 8);
  EXPECT_DOUBLE_EQ(*e.value(), 6);
}

TEST(Ewma, ManySmallStepsEqualOneLargeOne) {
  Ewma fine(10s);
  Ewma coarse(10s);
  for (auto* e : {&fine, &coarse}) e->add(MonoTime{}, 0);
  for (int i = 1; i <= 300; ++i) fine.add(MonoTime{i * 100ms}, 1);
  coarse.add(MonoTime{30s}, 1);
  EXPECT_NEAR(*fine.value(), *coarse.value(), 1e-12);
  EXPECT_NEAR(*coarse.value(), 1 - 1.0 / 8, 1e-12);
}

TEST(Ewma, TimeThatDoesNotAdvanceIsIgnored) {
  Ewma e(10s);
  e.add(MonoTime{10s}, 4);
  e.add(MonoTime{10s}, 100);
  e.add(MonoTime{9s}, 100);
  EXPECT_EQ(e.value(), 4);
  EXPECT_EQ(e.last(), MonoTime{10s});
  e.reset();
  EXPECT_EQ(e.value(), std::nullopt);
}

}  // namespace
}  // namespace mangrove::stats
