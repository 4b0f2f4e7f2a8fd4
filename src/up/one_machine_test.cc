#include "up/one_machine.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/os/files.h"
#include "base/os/temp_folder.h"

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

TEST(OneMachine, ReadsRulesFromAFileAndKeepsItsOwnAboutLoad) {
  const TempFolder folder = TempFolder::inMemory("one-machine");
  const std::string file = folder.file("rules.yaml");
  ASSERT_TRUE(writeFileAtomically(file, R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {qps: 5}
profiles:
- schedulerName: koord-scheduler
  pluginConfig:
  - {name: ElasticQuota, args: {reclaim: true}}
)"));
  const auto config = oneMachineConfig(file);
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_FALSE(config->profiles.at(0).at("permit").empty());  // ours
  const auto& args = config->profiles.at(0).args;
  EXPECT_EQ(args.at("ElasticQuota").at("reclaim"), true);
  EXPECT_EQ(args.at("LoadAwareScheduling").at("usageThresholds").at("cpu"), 0);
  ASSERT_FALSE(config->warnings.empty());
  EXPECT_NE(config->warnings.back().find("clientConnection"), std::string::npos);
  EXPECT_FALSE(oneMachineConfig(folder.file("absent.yaml")));
}

}  // namespace
}  // namespace mangrove::up
