#include "agent/bench/course.h"

#include <vector>

#include <gtest/gtest.h>

namespace mangrove::agent {
namespace {

template <class F>
MemoryCourse course(int seconds, F kib) {
  std::vector<MemorySample> samples;
  for (int i = 0; i <= seconds; ++i)
    samples.push_back({std::chrono::seconds(i), kKiB * static_cast<int64_t>(kib(i))});
  return courseOf(samples);
}

TEST(MemoryCourse, TeethOfASawAreFlatWhereverTheyBegin) {
  for (int phase : {0, 100, 299}) {
    const auto found = course(600, [&](int i) { return 10000 + (i + phase) % 300; });
    EXPECT_TRUE(found.judged);
    EXPECT_TRUE(found.flat) << phase;
    EXPECT_LE(found.peakGrowth, kKiB * 1) << phase;
  }
}

TEST(MemoryCourse, SlowGrowthIsSeenThroughTheTeeth) {
  const auto found = course(600, [](int i) { return 10000 + i % 300 + i; });
  EXPECT_TRUE(found.judged);
  EXPECT_FALSE(found.flat);
  EXPECT_EQ(found.peakGrowth, kKiB * 300) << "a KiB a second over half of ten minutes";
}

TEST(MemoryCourse, TheSlopeIsThatOfTheSecondHalf) {
  const auto found = course(600, [](int i) { return i < 300 ? 5000 : 10000 + i; });
  EXPECT_NEAR(found.bytesPerMinute, 60 * 1024, 1);
}

TEST(MemoryCourse, ShortOnesAreNotJudged) {
  for (int seconds : {0, 1, 60, 500}) {
    const auto found = course(seconds, [](int) { return 10000; });
    EXPECT_FALSE(found.judged) << seconds;
    EXPECT_FALSE(found.flat) << seconds;
  }
  EXPECT_FALSE(courseOf({}).judged);
}

}  // namespace
}  // namespace mangrove::agent
