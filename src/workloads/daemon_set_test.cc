// Where a DaemonSet runs and what it does with its pods, as tables.
#include "workloads/daemon_set.h"

#include <gtest/gtest.h>

#include "workloads/testing/pod_marks.h"

namespace mangrove::workloads {
namespace {

const WallTime kNow = *parseTime("2026-03-01T12:00:00Z");

std::shared_ptr<const api::Node> node(const std::string& name, const std::string& labels,
                                      const std::string& taints) {
  return object<api::Node>(
      fmt::format(R"({{"metadata":{{"name":"{}","labels":{{{}}}}},"spec":{{"taints":[{}]}}}})",
                  name, labels, taints));
}

TEST(DaemonSet, KnowsWhereItBelongs) {
  const std::string disk = R"("disk":"ssd")";
  const auto taint = [](const char* key, const char* effect) {
    return fmt::format(R"({{"key":"{}","effect":"{}"}})", key, effect);
  };
  const struct {
    const char* what;
    std::string spec, labels, taints;
    bool run, keep;
  } rows[] = {
      {"everywhere", "", "", "", true, true},
      {"where the selector says", R"("nodeSelector":{"disk":"ssd"})", disk, "", true, true},
      {"and nowhere else", R"("nodeSelector":{"disk":"ssd"})", "", "", false, false},
      {"on the node it names", R"("nodeName":"n1")", "", "", true, true},
      {"and on no other", R"("nodeName":"n2")", "", "", false, false},
      {"where its affinity requires it",
       R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"disk","operator":"Exists"}]}]}}})",
       "", "", false, false},
      {"a taint that only starts nothing leaves who is there", "", "", taint("a", "NoSchedule"),
       false, true},
      {"one that drives out does not", "", "", taint("a", "NoExecute"), false, false},
      {"a wish is no taint", "", "", taint("a", "PreferNoSchedule"), true, true},
      {"tolerated", R"("tolerations":[{"key":"a","operator":"Exists"}])", "",
       taint("a", "NoExecute"), true, true},
      {"daemons endure a node in trouble", "", "",
       taint("node.kubernetes.io/not-ready", "NoExecute") + "," +
           taint("node.kubernetes.io/memory-pressure", "NoSchedule") + "," +
           taint("node.kubernetes.io/unschedulable", "NoSchedule"),
       true, true},
      {"but not pressure that drives out", "", "",
       taint("node.kubernetes.io/memory-pressure", "NoExecute"), false, false},
  };
  for (const auto& row : rows) {
    const auto podTemplate =
        object<api::PodTemplate>(fmt::format(R"({{"spec":{{{}}}}})", row.spec));
    const NodeVerdict got = belongsOn(*podTemplate, *node("n1", row.labels, row.taints));
    EXPECT_EQ(got.run, row.run) << row.what;
    EXPECT_EQ(got.keep, row.keep) << row.what;
  }
}

// Pods are named after their nodes; three nodes a, b and c.
struct Row {
  const char *what, *spec, *pods, *plan;
};

std::string planned(const Row& row) {
  const auto set = object<DaemonSet>(fmt::format(
      R"({{"metadata":{{"name":"w","namespace":"d","uid":"u"}},"spec":{{"selector":{{"matchLabels":{{"app":"x"}}}},"template":{{"metadata":{{"labels":{{"app":"x"}}}},"spec":{{"containers":[{{"name":"c"}}]}}}}{}}}}})",
      row.spec));
  const Nodes nodes = {node("a", "", ""), node("b", "", ""), node("c", "", "")};
  const Revisions revisions = revisionsIn(planDaemonSet(*set, {}, {}, {}, "", kNow));
  const std::string hash = revisionHash(*set, revisions.front()->meta.name.view());
  Pods pods;
  for (std::string_view word : splitTrimmed(row.pods, ' '))
    if (!word.empty()) pods.push_back(podOf("w", word, hash, "old", word.substr(0, 1)));
  return textOf(planDaemonSet(*set, pods, nodes, revisions, "", kNow));
}

TEST(DaemonSet, HasOnePodOnEveryNode) {
  const Row rows[] = {
      {"one each", "", "", "create 3 Pod"},
      {"what is missing", "", "a+ c-", "create 1 Pod"},
      {"enough", "", "a+ b+ c+", ""},
      {"a place is taken until its pod is gone", "", "a+ b+ cd", ""},
      {"a failed one is replaced", "", "a+ b+ cf", "remove w-c | note FailedDaemonPod"},
      {"a second one goes", "", "a+ b+ c+ c2+", "remove w-c2"},
  };
  for (const Row& row : rows) EXPECT_EQ(planned(row), row.plan) << row.what;
}

TEST(DaemonSet, RenewsAsManyAsMayBeMissing) {
  constexpr const char* kTwo =
      R"(,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":2}})";
  constexpr const char* kSurge =
      R"(,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1,"maxUnavailable":0}})";
  const Row rows[] = {
      {"one at a time", "", "a+o b+o c+o", "remove w-a"},
      {"the next when the first is back", "", "a- b+o c+o", ""},
      {"then it goes on", "", "a+ b+o c+o", "remove w-b"},
      {"one that does not work is no loss", "", "a+ b-o c+o", "remove w-b"},
      {"two at a time", kTwo, "a+o b+o c+o", "remove w-a,w-b"},
      {"on delete: somebody else decides", R"(,"updateStrategy":{"type":"OnDelete"})",
       "a+o b+o c+o", ""},
      {"with a surge the new one comes first", kSurge, "a+o b+o c+o", "create 1 Pod"},
      {"the old one goes when the new one works", kSurge, "a+o a2+ b+o c+o", "remove w-a"},
      {"and not before", kSurge, "a+o a2- b+o c+o", ""},
  };
  for (const Row& row : rows) EXPECT_EQ(planned(row), row.plan) << row.what;
}

}  // namespace
}  // namespace mangrove::workloads
