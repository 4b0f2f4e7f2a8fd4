#include <gtest/gtest.h>

#include "workloads/job.h"
#include "workloads/job_count.h"
#include "workloads/job_indexes.h"
#include "workloads/objects.h"
#include "workloads/pods.h"
#include "workloads/stateful_set.h"

namespace mangrove::workloads {
namespace {

std::shared_ptr<const api::Pod> pod(std::string_view text) {
  auto decoded = api::decodeText<api::Pod>(text);
  EXPECT_TRUE(decoded) << decoded.error().text();
  return std::make_shared<api::Pod>(std::move(*decoded));
}

TEST(Indexes, AreWrittenAsRanges) {
  for (const char* text : {"", "0", "0,2-4", "1,3,5-9", "0,1"})
    EXPECT_EQ(formatIndexes(parseIndexes(text)), text);
  EXPECT_EQ(formatIndexes(parseIndexes("x,3-1,-2,99999999")), "");
}

TEST(Scaled, RoundsAsAsked) {
  auto percent = [](const char* text) { return std::optional(api::IntOrString{true, 0, text}); };
  EXPECT_EQ(scaled(percent("25%"), 10, true, 0), 3);
  EXPECT_EQ(scaled(percent("25%"), 10, false, 0), 2);
  EXPECT_EQ(scaled(percent("100%"), 7, false, 0), 7);
  EXPECT_EQ(scaled(percent("x"), 7, false, 5), 5);
  EXPECT_EQ(scaled(api::IntOrString{false, 3, ""}, 7, false, 0), 3);
  EXPECT_EQ(scaled(std::nullopt, 7, false, 4), 4);
}

TEST(Ordinals, BelongToTheirSetOnly) {
  EXPECT_EQ(ordinalOf("web", "web-12"), 12);
  EXPECT_EQ(ordinalOf("web", "web-x"), -1);
  EXPECT_EQ(ordinalOf("web", "webx-1"), -1);
  EXPECT_EQ(ordinalOf("web", "web-"), -1);
}

TEST(RetryDelay, DoublesUpToTenMinutes) {
  EXPECT_EQ(retryDelay(0), Duration::zero());
  EXPECT_EQ(retryDelay(1), std::chrono::seconds(10));
  EXPECT_EQ(retryDelay(3), std::chrono::seconds(40));
  EXPECT_EQ(retryDelay(50), std::chrono::minutes(10));
}

TEST(Removal, PrefersWhatIsWorthLess) {
  Pods pods = {
      pod(R"({"metadata":{"name":"old-ready"},"spec":{"nodeName":"n"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})"),
      pod(R"({"metadata":{"name":"new-ready"},"spec":{"nodeName":"n"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-02T00:00:00Z"}]}})"),
      pod(R"({"metadata":{"name":"dear","annotations":{"controller.kubernetes.io/pod-deletion-cost":"5"}},"spec":{"nodeName":"n"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-03T00:00:00Z"}]}})"),
      pod(R"({"metadata":{"name":"running"},"spec":{"nodeName":"n"},"status":{"phase":"Running"}})"),
      pod(R"({"metadata":{"name":"unassigned"},"status":{"phase":"Pending"}})"),
  };
  sortForRemoval(pods);
  std::vector<std::string> names;
  for (const auto& one : pods) names.push_back(one->meta.name.str());
  EXPECT_EQ(names,
            (std::vector<std::string>{"unassigned", "running", "new-ready", "old-ready", "dear"}));
}

TEST(FailurePolicy, JudgesByExitCodeAndCondition) {
  const char* policy =
      R"({"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[42]}},)"
      R"({"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget"}]}]})";
  auto failed = [&](int code, const char* condition) {
    return pod(
        std::string(R"({"metadata":{"name":"p"},"status":{"phase":"Failed","conditions":[)") +
        condition + R"(],"containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":)" +
        std::to_string(code) + "}}}]}}");
  };
  EXPECT_EQ(judge(policy, *failed(42, "")).verdict, PodVerdict::kFailJob);
  EXPECT_EQ(judge(policy, *failed(1, "")).verdict, PodVerdict::kCount);
  EXPECT_EQ(judge(policy, *failed(1, R"({"type":"DisruptionTarget","status":"True"})")).verdict,
            PodVerdict::kIgnore);
  EXPECT_EQ(judge("", *failed(42, "")).verdict, PodVerdict::kCount);
}

TEST(Templates, AreTheSameWhateverHashLabelTheyCarry) {
  const char* a = R"({"metadata":{"labels":{"app":"x","pod-template-hash":"1"}},"spec":{"a":1}})";
  const char* b = R"({"spec":{"a":1},"metadata":{"creationTimestamp":null,"labels":{"app":"x"}}})";
  EXPECT_TRUE(sameTemplate(a, b, "pod-template-hash"));
  EXPECT_FALSE(sameTemplate(a, R"({"spec":{"a":2}})", "pod-template-hash"));
}

TEST(HashNames, DifferByContentAndCollision) {
  EXPECT_EQ(hashName("a"), hashName("a"));
  EXPECT_NE(hashName("a"), hashName("b"));
  EXPECT_NE(hashName("a"), hashName("a", 1));
  EXPECT_EQ(hashName("a").size(), 10u);
}

}  // namespace
}  // namespace mangrove::workloads
