// What a ReplicaSet does with its pods, as a table.
#include "workloads/replica_set.h"

#include <gtest/gtest.h>

#include "workloads/testing/pod_marks.h"

namespace mangrove::workloads {
namespace {

const WallTime kNow = *parseTime("2026-03-01T12:00:00Z");

std::shared_ptr<const ReplicaSet> three(const std::string& meta, const std::string& more) {
  return object<ReplicaSet>(fmt::format(
      R"({{"metadata":{{"name":"w","namespace":"d","uid":"u","generation":1{}}},"spec":{{"replicas":3,"selector":{{"matchLabels":{{"app":"x"}}}},"template":{{"metadata":{{"labels":{{"app":"x"}}}},"spec":{{"containers":[{{"name":"c"}}]}}}}{}}}}})",
      meta, more));
}

TEST(ReplicaSet, HasSoManyPodsNoMoreAndNoFewer) {
  const struct {
    const char *what, *meta, *spec, *pods, *plan;
  } rows[] = {
      {"all at once", "", "", "", "create 3 Pod"},
      {"what is missing", "", "", "a+ b-", "create 1 Pod"},
      {"who is being deleted does not count", "", "", "a+ b+ cd", "create 1 Pod"},
      {"who has failed neither, and stays for its log", "", "", "a+ b+ cf", "create 1 Pod"},
      {"enough", "", "", "a+ b+ c+", ""},
      {"those that are not ready go first", "", "", "a+ b- c+ e- f+", "remove w-b,w-e"},
      {"ready, but not for long enough", "", R"(,"minReadySeconds":30)", "a+ b+ c+", "again 20s"},
      {"its own end makes no pods", R"(,"deletionTimestamp":"2026-03-01T11:00:00Z")", "", "", ""},
  };
  for (const auto& row : rows) {
    const Plan plan = planReplicaSet(api::kind::kReplicaSet, *three(row.meta, row.spec),
                                     podsOf("w", row.pods, "", ""), "", kNow);
    EXPECT_EQ(textOf(plan), row.plan) << row.what;
  }
}

TEST(ReplicaSet, SaysWhyItCannotHaveMore) {
  const struct {
    const char *trouble, *condition;
  } rows[] = {{"", ""}, {"exceeded quota", "ReplicaFailure"}};
  for (const auto& row : rows)
    EXPECT_EQ(lastCondition(planReplicaSet(api::kind::kReplicaSet, *three("", ""), {}, "", kNow,
                                           row.trouble)),
              row.condition);
}

TEST(ReplicaSet, CountsInItsStatus) {
  const json::Object status =
      statusIn(planReplicaSet(api::kind::kReplicaSet, *three("", R"(,"minReadySeconds":30)"),
                              podsOf("w", "a+ b- cd ef", "", ""), "", kNow));
  EXPECT_EQ(status.at("replicas").to_number<int>(), 2);
  EXPECT_EQ(status.at("readyReplicas").to_number<int>(), 1);
  EXPECT_TRUE(status.at("availableReplicas").is_null());  // not for long enough
  EXPECT_EQ(status.at("terminatingReplicas").to_number<int>(), 1);
}

}  // namespace
}  // namespace mangrove::workloads
