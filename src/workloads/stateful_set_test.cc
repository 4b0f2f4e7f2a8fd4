// What a StatefulSet does with its pods, as a table: filled in order from below, emptied and renewed
// from above.
#include "workloads/stateful_set.h"

#include <gtest/gtest.h>

#include "workloads/testing/pod_marks.h"

namespace mangrove::workloads {
namespace {

const WallTime kNow = *parseTime("2026-03-01T12:00:00Z");

std::shared_ptr<const StatefulSet> three(const std::string& more) {
  return object<StatefulSet>(fmt::format(
      R"({{"metadata":{{"name":"w","namespace":"d","uid":"u","generation":1}},"spec":{{"replicas":3,"selector":{{"matchLabels":{{"app":"x"}}}},"template":{{"metadata":{{"labels":{{"app":"x"}}}},"spec":{{"containers":[{{"name":"c"}}]}}}}{}}},"status":{{"currentRevision":"w-old"}}}})",
      more));
}

struct Row {
  const char* what;
  const char* spec;
  const char* pods;
  const char* plan;
};

std::string planned(const Row& row) {
  const auto set = three(row.spec);
  const Revisions revisions = revisionsIn(planStatefulSet(*set, {}, {}, "", kNow));
  const Pods pods = podsOf("w", row.pods, revisions.front()->meta.name.view(), "w-old");
  return textOf(planStatefulSet(*set, pods, revisions, "", kNow));
}

constexpr const char* kParallel = R"(,"podManagementPolicy":"Parallel")";
constexpr const char* kClaims =
    R"(,"volumeClaimTemplates":[{"metadata":{"name":"data"}}],"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete"})";

TEST(StatefulSet, FillsItsPlacesInOrder) {
  const Row rows[] = {
      {"the first only", "", "", "create 1 Pod"},
      {"the next when the last is ready", "", "0+", "create 1 Pod"},
      {"and not before", "", "0-", ""},
      {"nor beside one that is going", "", "0+ 1d", ""},
      {"a gap comes before what is above it", "", "0+ 2+", "create 1 Pod"},
      {"one that has ended makes room for its name", "", "0+ 1f 2+", "remove w-1"},
      {"all are there", "", "0+ 1+ 2+", ""},
      {"in parallel: all that are missing", kParallel, "1-", "create 2 Pod"},
      {"a place that does not begin at nought", R"(,"ordinals":{"start":5})", "5+ 6+",
       "create 1 Pod"},
      {"ready for long enough", R"(,"minReadySeconds":30)", "0+", "again 20s"},
      {"each with its claim", kClaims, "0+ 1+", "create 1 PersistentVolumeClaim | create 1 Pod"},
  };
  for (const Row& row : rows) EXPECT_EQ(planned(row), row.plan) << row.what;
}

TEST(StatefulSet, ShrinksFromTheTopOneAtATime) {
  const Row rows[] = {
      {"the highest goes", "", "0+ 1+ 2+ 3+ 4+", "remove w-4"},
      {"the next when it is gone", "", "0+ 1+ 2+ 3+ 4d", ""},
      {"not while one below is missing", "", "0+ 1+ 3+", "create 1 Pod"},
      {"in parallel: all at once", kParallel, "0+ 1+ 2+ 3+ 4+", "remove w-4,w-3"},
      {"strangers are left alone", "", "0+ 1+ 2+ x+", ""},
  };
  for (const Row& row : rows) EXPECT_EQ(planned(row), row.plan) << row.what;
}

TEST(StatefulSet, RenewsFromTheTopOneAtATime) {
  const Row rows[] = {
      {"the highest first", "", "0+o 1+o 2+o", "remove w-2"},
      {"the next when its successor is ready", "", "0+o 1+o 2+", "remove w-1"},
      {"and not before", "", "0+o 1+o 2-", ""},
      {"one is on its way out", "", "0+o 1+o 2do", ""},
      {"a broken old one must not block what mends it", "", "0+o 1-o 2+o", "remove w-1"},
      {"below the partition nothing changes",
       R"(,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":2}})",
       "0+o 1+o 2+", ""},
      {"above it, it does",
       R"(,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":2}})",
       "0+o 1+o 2+o", "remove w-2"},
      {"on delete: somebody else decides", R"(,"updateStrategy":{"type":"OnDelete"})",
       "0+o 1+o 2+o", ""},
  };
  for (const Row& row : rows) EXPECT_EQ(planned(row), row.plan) << row.what;
}

TEST(StatefulSet, SaysHowFarItIs) {
  const auto set = three("");
  const Revisions revisions = revisionsIn(planStatefulSet(*set, {}, {}, "", kNow));
  const std::string now = revisions.front()->meta.name.str();
  const struct {
    const char *pods, *current;
    int ready, updated;
  } rows[] = {
      {"0+o 1+o 2+", "w-old", 3, 1},
      {"0+ 1+ 2-", "w-old", 2, 3},
      {"0+ 1+ 2+", now.c_str(), 3, 3},  // everything is new and works: that is the revision now
  };
  for (const auto& row : rows) {
    const json::Object status =
        statusIn(planStatefulSet(*set, podsOf("w", row.pods, now, "w-old"), revisions, "", kNow));
    EXPECT_EQ(status.at("currentRevision").as_string(), row.current) << row.pods;
    EXPECT_EQ(status.at("readyReplicas").to_number<int>(), row.ready) << row.pods;
    EXPECT_EQ(status.at("updatedReplicas").to_number<int>(), row.updated) << row.pods;
  }
}

}  // namespace
}  // namespace mangrove::workloads
