// Preemption by the one order of victims, through the engine as it runs.
#include "placement/preemption/least_loss.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/time_text.h"
#include "placement/preemption/preemption.h"
#include "placement/testing/lab.h"

namespace mangrove::placement {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

SchedulerConfig configOf(bool leastLoss) {
  SchedulerConfig config = defaultConfig({"default-scheduler"});
  if (leastLoss)
    for (auto& profile : config.profiles)
      profile.args["DefaultPreemption"] = json::Object{{"leastLoss", true}};
  return config;
}

struct Stage {
  Lab lab;
  explicit Stage(bool leastLoss, int nodes = 1) : lab(configOf(leastLoss)) {
    lab.clock().stepWall(*parseTime("2026-11-17T15:00:00Z") - lab.clock().wall());
    for (int i = 1; i <= nodes; i++)
      lab.node(fmt::format(
          R"({{"metadata":{{"name":"n{}"}},"status":{{"allocatable":{{"cpu":"8","pods":"110"}}}}}})",
          i));
  }
  // One that saves and said when.
  void saver(const std::string& name, const std::string& last, int cpu, int priority = 0,
             const std::string& node = "n1", const std::string& more = "") {
    lab.pod(fmt::format(
        R"({{"metadata":{{"name":"{}","labels":{{"app":"{}"}},"annotations":{{)"
        R"("colocation.mangrove.io/checkpoint":"{{\"mode\":\"signal\"}}",)"
        R"("colocation.mangrove.io/checkpoint-last":"{}"{}}}}},"spec":{{"nodeName":"{}",)"
        R"("priority":{},"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{}"}}}}}}]}},)"
        R"("status":{{"phase":"Running","startTime":"2026-11-17T10:00:00Z"}}}})",
        name, name, last, more, node, priority, cpu));
  }
  std::vector<std::string> victimsOf(int cpu) {
    lab.pod(fmt::format(
        R"({{"metadata":{{"name":"vip"}},"spec":{{"priority":9000,"containers":[{{"name":"c",)"
        R"("resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}})",
        cpu));
    lab.keepVictims = true;
    lab.takeLog();
    lab.run();
    std::vector<std::string> out;
    for (const std::string& line : lab.takeLog())
      for (const char* name : {"old", "fresh", "third", "g0", "g1"})
        if (line == fmt::format("{} preempted by vip", name)) out.push_back(name);
    return out;
  }
};

constexpr const char* kOld = "2026-11-17T11:00:00Z";
constexpr const char* kFresh = "2026-11-17T14:59:50Z";

TEST(LeastLossPreemption, WhoSavedLastGoes) {
  Stage stage(true);
  stage.saver("old", kOld, 4);
  stage.saver("fresh", kFresh, 4);
  EXPECT_THAT(stage.victimsOf(4), ElementsAre("fresh"));
  EXPECT_EQ(stage.lab.losses["fresh"],
            "loses 40 core seconds of work and 720 for its restart; default/old would have lost "
            "57600 and 720");
}

TEST(LeastLossPreemption, TheReferencesOrderWithoutIt) {
  Stage stage(false);
  stage.saver("old", kOld, 4);
  stage.saver("fresh", kFresh, 4);
  EXPECT_EQ(stage.victimsOf(4).size(), 1u);
  EXPECT_TRUE(stage.lab.losses.empty());
}

TEST(LeastLossPreemption, PriorityComesBeforeLoss) {
  Stage stage(true);
  stage.saver("old", kOld, 4, 100);
  stage.saver("fresh", kFresh, 4, 200);
  EXPECT_THAT(stage.victimsOf(4), ElementsAre("old"));
}

TEST(LeastLossPreemption, TheNodeWhereLeastIsLost) {
  Stage stage(true, 2);
  stage.saver("old", kOld, 8, 0, "n1");
  stage.saver("fresh", kFresh, 8, 0, "n2");
  EXPECT_THAT(stage.victimsOf(8), ElementsAre("fresh"));
  EXPECT_EQ(stage.lab.cluster().nominatedNode(stage.lab.find("vip")->meta.uid).view(), "n2");
}

TEST(LeastLossPreemption, StrictGangsOnANodeGoTogether) {
  Stage stage(true);
  const std::string gang = R"(,"gang.scheduling.koordinator.sh/name":"g",)"
                           R"("gang.scheduling.koordinator.sh/min-available":"2")";
  stage.saver("g0", kFresh, 2, 0, "n1", gang);
  stage.saver("g1", kFresh, 2, 0, "n1", gang);
  stage.saver("third", "2026-11-17T14:59:45Z", 4);
  EXPECT_THAT(stage.victimsOf(2), UnorderedElementsAre("g0", "g1"));
}

}  // namespace
}  // namespace mangrove::placement
