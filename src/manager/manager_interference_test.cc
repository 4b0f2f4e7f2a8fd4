// Crane's rules and interference policies, from their objects to NodeSLOs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/crane/ensurance.h"
#include "api/interference/policy.h"
#include "manager/gates.h"
#include "manager/manager_test_support.h"

namespace mangrove::manager {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;

class InterferenceRulesTest : public ManagerTest {
 protected:
  std::string slo() const {
    const auto truth = api.truth(kind::kNodeSlo);
    const auto found = truth.find("n1");
    return found == truth.end() ? "" : found->second;
  }
  bool says(const std::string& part) {
    return until([&] { return slo().find(part) != std::string::npos; });
  }
  void action() {
    api.put(kind::kAvoidanceAction, "", "slow",
            R"({"spec":{"throttle":{"cpuThrottle":{"minCPURatio":10,"stepCPURatio":10}}}})");
  }
  void rules(const char* actionName) {
    api.put(kind::kNodeQos, "", "q",
            fmt::format(R"({{"spec":{{"rules":[{{"name":"cpu","metricRule":{{"name":)"
                        R"("cpu_total_usage","value":"6k"}},"actionName":"{}"}}]}}}})",
                        actionName));
  }
  ManagerOptions on() {
    ManagerOptions options;
    EXPECT_TRUE(options.gates.set("InterferenceRules=true"));
    return options;
  }
};

TEST_F(InterferenceRulesTest, RulesReachTheNodesAndLeaveThem) {
  node("n1");
  report("n1", 33, clock.wall());
  action();
  rules("slow");
  start(on());
  manager->lead();
  ASSERT_TRUE(says("\"q.cpu\"")) << slo();
  EXPECT_THAT(slo(), HasSubstr("minCPURatio"));
  api.put(kind::kInterferencePolicy, "", "all", R"({"spec":{"selector":{},"pairs":7}})");
  ASSERT_TRUE(says("\"pairs\":7")) << slo();
  api.remove(kind::kNodeQos, "", "q");
  ASSERT_TRUE(until([&] { return slo().find("q.cpu") == std::string::npos; })) << slo();
  EXPECT_THAT(slo(), HasSubstr("\"pairs\":7"));
}

TEST_F(InterferenceRulesTest, ARuleWithoutItsActionIsSkippedAndSaid) {
  node("n1");
  rules("gone");
  start(on());
  manager->lead();
  ASSERT_TRUE(until([&] { return !told("ActionNotFound").empty(); }));
  EXPECT_THAT(told("ActionNotFound").at(0), HasSubstr("no AvoidanceAction 'gone'"));
  EXPECT_THAT(slo(), Not(HasSubstr("q.cpu")));
}

TEST_F(InterferenceRulesTest, OffByDefault) {
  node("n1");
  action();
  rules("slow");
  start();
  manager->lead();
  ASSERT_TRUE(until([&] { return !slo().empty(); }));
  ASSERT_TRUE(settle());
  EXPECT_THAT(slo(), Not(HasSubstr("q.cpu")));
}

}  // namespace
}  // namespace mangrove::manager
