#include "up/one_machine.h"

#include <vector>

#include <gtest/gtest.h>

namespace mangrove::up {
namespace {

api::Node nodeOf(const char* kubelet) {
  api::Node node;
  node.status.info.kubeletVersion = Interned(kubelet);
  return node;
}

TEST(OneMachine, IsOneNodeOfOurRunner) {
  EXPECT_TRUE(isOneMachine(std::vector{nodeOf("v1.35.0-mangrove.0.1.0")}));
  EXPECT_FALSE(isOneMachine(std::vector{nodeOf("v1.35.0")}));
  EXPECT_FALSE(isOneMachine(std::vector<api::Node>{}));
  EXPECT_FALSE(isOneMachine(
      std::vector{nodeOf("v1.35.0-mangrove.0.1.0"), nodeOf("v1.35.0-mangrove.0.1.0")}));
}

// A busy CPU refuses nobody there.
TEST(OneMachine, LetsTheAgentDealWithABusyCpu) {
  for (const auto& profile : oneMachineConfig().profiles) {
    const auto args = profile.args.find("LoadAwareScheduling");
    ASSERT_NE(args, profile.args.end());
    EXPECT_EQ(args->second.at("usageThresholds").at("cpu"), 0);
  }
}

}  // namespace
}  // namespace mangrove::up
