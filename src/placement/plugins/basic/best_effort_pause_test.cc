// A node that had to evict takes no new best-effort pods until its agent says so; services come as
// before.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "placement/testing/lab.h"

namespace mangrove::placement {
namespace {

std::string node(std::string_view name, bool paused) {
  return fmt::format(
      R"({{"metadata":{{"name":"{}"}},"status":{{"allocatable":{{"cpu":"4","pods":"110"}},)"
      R"("conditions":[{{"type":"Ready","status":"True"}},)"
      R"({{"type":"colocation.mangrove.io/BestEffortPaused","status":"{}"}}]}}}})",
      name, paused ? "True" : "False");
}

std::string pod(std::string_view name, std::string_view qos) {
  return fmt::format(R"({{"metadata":{{"name":"{}","labels":{{"koordinator.sh/qosClass":"{}"}}}},)"
                     R"("spec":{{"containers":[{{"name":"c"}}]}}}})",
                     name, qos);
}

TEST(BestEffortPause, KeepsBatchOffAPausedNodeUntilItRecovers) {
  Lab lab;
  lab.node(node("n1", true));
  lab.pod(pod("job", "BE"));
  lab.pod(pod("web", "LS"));
  lab.run();
  EXPECT_EQ(lab.nodeOf("web"), "n1") << "services do not notice";
  EXPECT_EQ(lab.nodeOf("job"), "");
  EXPECT_NE(lab.said("job").find("1 node(s) took no new best-effort pods after an eviction"),
            std::string::npos)
      << lab.said("job");
  lab.node(node("n1", false));
  lab.wait(std::chrono::seconds(15));
  lab.run();
  EXPECT_EQ(lab.nodeOf("job"), "n1") << "its recovery is news to pods that wait";
}

TEST(BestEffortPause, OtherNodesTakeThem) {
  Lab lab;
  lab.node(node("n1", true));
  lab.node(node("n2", false));
  for (int i = 0; i < 4; i++) lab.pod(pod(fmt::format("job-{}", i), "BE"));
  lab.run();
  for (int i = 0; i < 4; i++) EXPECT_EQ(lab.nodeOf(fmt::format("job-{}", i)), "n2");
}

TEST(BestEffortPause, ProfilesOfKubernetesDoNotKnowIt) {
  SchedulerConfig config;
  config.profiles.push_back(kubernetesProfile("default-scheduler"));
  Lab lab(config);
  lab.node(node("n1", true));
  lab.pod(pod("job", "BE"));
  lab.run();
  EXPECT_EQ(lab.nodeOf("job"), "n1");
}

}  // namespace
}  // namespace mangrove::placement
