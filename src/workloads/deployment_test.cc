// What a Deployment does with its ReplicaSets, as a table.
#include "workloads/deployment.h"

#include <gtest/gtest.h>

#include "workloads/testing/plan_text.h"

namespace mangrove::workloads {
namespace {

const WallTime kNow = *parseTime("2026-03-01T12:00:00Z");

constexpr const char* kNewTemplate = R"({"metadata":{"labels":{"app":"x"}},"spec":{"v":2}})";
constexpr const char* kOldTemplate = R"({"metadata":{"labels":{"app":"x"}},"spec":{"v":1}})";

// What the API server writes where a user says nothing.
constexpr const char* kUsual =
    R"("strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"}})";

std::shared_ptr<const Deployment> deployment(const std::string& spec) {
  return object<Deployment>(fmt::format(
      R"({{"metadata":{{"name":"w","namespace":"d","uid":"u","generation":1}},"spec":{{"replicas":4,"selector":{{"matchLabels":{{"app":"x"}}}},"template":{}{}{}}}}})",
      kNewTemplate, ",",
      spec.find("strategy") == spec.npos ? kUsual + (spec.empty() ? spec : "," + spec) : spec));
}

// A set that was sized for four replicas of at most five.
OwnedSet set(const char* name, const char* podTemplate, int replicas, int available) {
  const std::string text = fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"d","uid":"{}","annotations":{{"deployment.kubernetes.io/revision":"1","deployment.kubernetes.io/desired-replicas":"4","deployment.kubernetes.io/max-replicas":"5"}}}},"spec":{{"replicas":{},"template":{}}},"status":{{"replicas":{},"availableReplicas":{},"readyReplicas":{}}}}})",
      name, name, replicas, podTemplate, replicas, available, available);
  return {object<ReplicaSet>(text), text};
}

struct Row {
  const char* what;
  std::string spec;
  std::vector<OwnedSet> sets;
  const char* plan;
};

TEST(Deployment, MovesReplicasFromOldSetsToTheNewOne) {
  const Row rows[] = {
      {"the first set", "", {}, "create 1 ReplicaSet | note ScalingReplicaSet"},
      {"all is as it should be", "", {set("new", kNewTemplate, 4, 4)}, ""},
      {"a new template: its set begins with what may be in excess",
       "",
       {set("old", kOldTemplate, 4, 4)},
       "create 1 ReplicaSet | note ScalingReplicaSet"},
      {"an available new one lets as many old ones go as may be missing",
       "",
       {set("new", kNewTemplate, 1, 1), set("old", kOldTemplate, 4, 4)},
       "size old=2 | note ScalingReplicaSet"},
      {"then the new set grows",
       "",
       {set("new", kNewTemplate, 1, 1), set("old", kOldTemplate, 3, 3)},
       "size new=2 | note ScalingReplicaSet"},
      {"paused: nothing moves",
       R"("paused":true)",
       {set("new", kNewTemplate, 1, 1), set("old", kOldTemplate, 4, 4)},
       ""},
      {"recreate: the old ones go first",
       R"("strategy":{"type":"Recreate"})",
       {set("old", kOldTemplate, 4, 4)},
       "size old=0 | note ScalingReplicaSet"},
  };
  for (const auto& row : rows) {
    const Plan plan = planDeployment(*deployment(row.spec), row.sets, {}, "", kNow);
    EXPECT_EQ(textOf(plan), row.plan) << row.what;
  }
}

TEST(Deployment, NeverHasBothBoundsZero) {
  const struct {
    const char* spec;
    int32_t surge, unavailable;
  } kRows[] = {
      {"", 1, 1},  // a quarter, up and down
      {R"("strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":0}})", 0, 1},
      {R"("strategy":{"rollingUpdate":{"maxSurge":"50%","maxUnavailable":"0%"}})", 2, 0},
      {R"("strategy":{"rollingUpdate":{"maxSurge":"10%","maxUnavailable":"10%"}})", 1, 0},
  };
  for (const auto& row : kRows) {
    const auto bounds = rolloutBounds(*deployment(row.spec));
    EXPECT_EQ(bounds.surge, row.surge) << row.spec;
    EXPECT_EQ(bounds.unavailable, row.unavailable) << row.spec;
  }
}

}  // namespace
}  // namespace mangrove::workloads
