// How many evictions a budget allows, as a table.
#include "workloads/disruption_budget.h"

#include <gtest/gtest.h>

#include "workloads/testing/pod_marks.h"

namespace mangrove::workloads {
namespace {

const WallTime kNow = *parseTime("2026-03-01T12:00:00Z");

TEST(DisruptionBudget, AllowsWhatIsBeyondTheWantedHealth) {
  const struct {
    const char *what, *spec, *status, *pods;
    int expected, healthy, wanted, allowed;
  } rows[] = {
      {"so many must stay", R"("minAvailable":2)", "", "a+ b+ c+", 3, 3, 2, 1},
      {"a share of them, rounded up", R"("minAvailable":"50%")", "", "a+ b+ c+", 3, 3, 2, 1},
      {"so many may go", R"("maxUnavailable":1)", "", "a+ b+ c+", 3, 3, 2, 1},
      {"a share may go, rounded up", R"("maxUnavailable":"30%")", "", "a+ b+ c+ e+", 4, 4, 2, 2},
      {"who is ill or leaving is gone already", R"("maxUnavailable":1)", "", "a+ b- cd", 3, 1, 2,
       0},
      {"fewer than there should be", R"("maxUnavailable":1)", "", "a+ b+", 4, 2, 3, 0},
      {"nobody is expected", R"("minAvailable":0)", "", "a+", 0, 1, 0, 0},
      {"an eviction on its way counts as done", R"("maxUnavailable":1)",
       R"("disruptedPods":{"w-a":"2026-03-01T11:59:30Z"})", "a+ b+ c+", 3, 2, 2, 0},
      {"one that never came is forgotten after two minutes", R"("maxUnavailable":1)",
       R"("disruptedPods":{"w-a":"2026-03-01T11:57:59Z"})", "a+ b+ c+", 3, 3, 2, 1},
  };
  for (const auto& row : rows) {
    const auto budget = object<api::PodDisruptionBudget>(fmt::format(
        R"({{"metadata":{{"name":"b","namespace":"d"}},"spec":{{"selector":{{}},{}}},"status":{{{}}}}})",
        row.spec, row.status));
    const json::Object status =
        statusIn(planBudget(*budget, podsOf("w", row.pods, "", ""), row.expected, "", kNow));
    EXPECT_EQ(status.at("currentHealthy").to_number<int>(), row.healthy) << row.what;
    EXPECT_EQ(status.at("desiredHealthy").to_number<int>(), row.wanted) << row.what;
    EXPECT_EQ(status.at("disruptionsAllowed").to_number<int>(), row.allowed) << row.what;
  }
}

TEST(DisruptionBudget, LooksAgainWhenAnEvictionMayBeForgotten) {
  const auto budget = object<api::PodDisruptionBudget>(
      R"({"metadata":{"name":"b","namespace":"d"},"spec":{"selector":{},"maxUnavailable":1},
          "status":{"disruptedPods":{"w-a":"2026-03-01T11:59:30Z","w-gone":"2026-03-01T11:59:30Z"}}})");
  const Plan plan = planBudget(*budget, podsOf("w", "a+ b+", "", ""), 2, "", kNow);
  EXPECT_EQ(textOf(plan), "again 1m30s");
  const json::Value left = statusIn(plan).at("disruptedPods");
  EXPECT_FALSE(left.at("w-a").is_null());
  EXPECT_TRUE(left.at("w-gone").is_null());  // taken away by the patch
}

}  // namespace
}  // namespace mangrove::workloads
