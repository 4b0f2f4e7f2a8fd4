#include "agent/canary/alarms.h"

#include <gtest/gtest.h>

namespace mangrove::agent {
namespace {

TEST(Canary, ARoundIsTheSameAfterWritingAndReading) {
  CanaryRound round;
  round.idleShare = 0.25;
  round.quotaCores = 0.01;
  const auto same = parseRound(roundText(round));
  ASSERT_TRUE(same);
  EXPECT_EQ(same->idleShare, 0.25);
  EXPECT_EQ(same->quotaCores, 0.01);
  EXPECT_EQ(parseRound("quota=0.5 trouble=no cpu.idle here")->trouble, "no cpu.idle here");
  EXPECT_FALSE(parseRound("quota=0.5 trouble=x")->idleShare);
  EXPECT_FALSE(parseRound("hello"));
  EXPECT_FALSE(parseRound(""));
}

TEST(Canary, KnobsByTheirEffect) {
  CanaryRound round;
  EXPECT_TRUE(judged(round).empty()) << "what was not measured is not judged";
  round.idleShare = 0.02;
  round.quotaCores = 0.012;
  EXPECT_EQ(judged(round).at("idle class"), "");
  EXPECT_EQ(judged(round).at("CPU quota"), "");
  round.idleShare = 0.5;
  round.quotaCores = 0.9;
  EXPECT_NE(judged(round).at("idle class").find("50 %"), std::string::npos);
  EXPECT_NE(judged(round).at("CPU quota").find("0.900"), std::string::npos);
}

TEST(Canary, DisksByWhatTheyGoBy) {
  EXPECT_EQ(diskFinding({}, false), "");
  EXPECT_EQ(diskFinding({{"sda", "none mq-deadline [bfq]"}}, false), "");
  EXPECT_EQ(diskFinding({{"sda", "[mq-deadline] none"}}, true), "");
  EXPECT_NE(diskFinding({{"sda", "[mq-deadline] none"}}, false).find("sda"), std::string::npos);
}

TEST(Canary, TwoRoundsRaiseAndOneEnds) {
  CanaryAlarms alarms;
  EXPECT_TRUE(alarms.add({{"CPU quota", "lost"}}).empty()) << "once may be a hiccup";
  EXPECT_EQ(alarms.add({{"CPU quota", "lost"}}), (std::vector<KnobAlarm>{{"CPU quota", "lost"}}));
  EXPECT_TRUE(alarms.add({{"CPU quota", "lost"}}).empty()) << "said already";
  EXPECT_EQ(alarms.raised().size(), 1u);
  EXPECT_EQ(alarms.add({{"CPU quota", ""}}), (std::vector<KnobAlarm>{{"CPU quota", ""}}));
  EXPECT_TRUE(alarms.raised().empty());
  alarms.add({{"CPU quota", "lost"}});
  alarms.add({{"CPU quota", ""}});
  EXPECT_TRUE(alarms.add({{"CPU quota", "lost"}}).empty()) << "not in a row";
}

}  // namespace
}  // namespace mangrove::agent
