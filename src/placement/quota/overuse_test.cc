#include "placement/quota/overuse.h"

#include <gmock/gmock.h>

namespace mangrove::placement {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

OverusePod pod(int32_t priority, int64_t cpu, int64_t memory) {
  OverusePod out;
  out.priority = priority;
  out.request = {{"cpu", cpu}, {"memory", memory}};
  return out;
}

const std::vector<OverusePod> kFour{pod(10, 20, 0), pod(9, 10, 1), pod(8, 20, 0), pod(7, 40, 0)};
const Amounts kUsed{{"cpu", 90}, {"memory", 1}};

TEST(Overuse, TakesTheLeastImportantAndSparesWhoFitsAgain) {
  EXPECT_THAT(overuseVictims(kUsed, {{"cpu", 50}, {"memory", 0}}, kFour), ElementsAre(1, 3));
}

TEST(Overuse, WhereNothingSufficesAllGoOrNobody) {
  const Amounts less{{"cpu", -1}, {"memory", -1}};
  EXPECT_THAT(overuseVictims(kUsed, less, kFour), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(overuseVictims(kUsed, less, kFour, true), IsEmpty());
  const std::vector<OverusePod> three(kFour.begin(), kFour.end() - 1);
  EXPECT_THAT(overuseVictims(kUsed, less, three), ElementsAre(0, 1, 2));
}

TEST(Overuse, WhatMayNotBePreemptedStays) {
  std::vector<OverusePod> pods = kFour;
  pods[3].kind = PodKind::kFixed;
  EXPECT_THAT(overuseVictims({{"cpu", 90}}, {{"cpu", 70}}, pods), ElementsAre(2));
}

TEST(Overuse, AResourceThatAPodDoesNotAskForStillCounts) {
  std::vector<OverusePod> pods{pod(1, 10, 0), pod(2, 0, 5)};
  pods[0].request = {{"cpu", 10}};
  EXPECT_THAT(overuseVictims({{"cpu", 10}, {"memory", 5}}, {{"cpu", 10}, {"memory", 4}}, pods),
              ElementsAre(1));
}

TEST(Overuse, IsDueOnceAfterTheDelay) {
  OveruseClock clock(std::chrono::seconds(120));
  const MonoTime start{};
  EXPECT_FALSE(clock.isDue(true, start));
  EXPECT_FALSE(clock.isDue(true, start + std::chrono::seconds(119)));
  EXPECT_TRUE(clock.isDue(true, start + std::chrono::seconds(121)));
  EXPECT_FALSE(clock.isDue(true, start + std::chrono::seconds(122)));
  EXPECT_FALSE(clock.isDue(false, start + std::chrono::seconds(200)));
  EXPECT_FALSE(clock.isDue(true, start + std::chrono::seconds(300)));
}

}  // namespace
}  // namespace mangrove::placement
