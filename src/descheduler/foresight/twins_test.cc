#include "descheduler/foresight/twins.h"

#include <gtest/gtest.h>

namespace mangrove::descheduler {
namespace {

TEST(Twins, ProfilesThatDifferInTheirNamesAloneAreOne) {
  const Folded folded =
      foldTwins(placement::defaultConfig({"koord-scheduler", "default-scheduler"}));
  ASSERT_EQ(folded.config.profiles.size(), 1U);
  EXPECT_EQ(folded.standsFor("default-scheduler"), "koord-scheduler");
  EXPECT_EQ(folded.standsFor("koord-scheduler"), "koord-scheduler");
  EXPECT_EQ(folded.standsFor("stranger"), "stranger");
}

TEST(Twins, WhatJudgesOtherwiseStaysApart) {
  placement::SchedulerConfig config = placement::defaultConfig({"a", "b", "c", "d"});
  config.profiles[1].args["LoadAwareScheduling"] =
      json::Object{{"usageThresholds", json::Object{{"cpu", 80}}}};
  config.profiles[2].percentageOfNodesToScore = 50;
  const Folded folded = foldTwins(config);
  ASSERT_EQ(folded.config.profiles.size(), 3U);
  EXPECT_EQ(folded.config.profiles[1].schedulerName, "b");
  EXPECT_EQ(folded.standsFor("c"), "c");
  EXPECT_EQ(folded.standsFor("d"), "a");
}

}  // namespace
}  // namespace mangrove::descheduler
