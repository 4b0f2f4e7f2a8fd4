// Cases 74-110 of docs/scheduler.md: which nodes are too busy for a pod, and their scores.
#include "placement/plugins/loadaware/load.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/text/time_text.h"

namespace mangrove::placement {
namespace {

constexpr std::string_view kNow = "2026-01-15T12:00:00Z";

LoadArgs args(std::string_view text) {
  auto out = readLoadArgs(*json::parse(text));
  EXPECT_TRUE(out) << (out ? "" : out.error().text());
  return out ? *out : LoadArgs();
}

api::Pod pod(std::string_view requests, std::string_view limits = "{}", std::string_view meta = "",
             std::string_view spec = "", std::string_view status = "{}") {
  return *api::decodeText<api::Pod>(fmt::format(
      R"({{"metadata":{{"name":"p","namespace":"default","uid":"u"{}}},"spec":{{{}"containers":[
          {{"name":"c","resources":{{"requests":{},"limits":{}}}}}]}},"status":{}}})",
      meta, spec, requests, limits, status));
}

struct EstimateCase {
  int number;
  const char* args;
  api::Pod pod;
  int64_t cpu, memory;
};

TEST(LoadEstimate, follows_the_table) {
  constexpr auto kFour = R"({"cpu":"4","memory":"8Gi"})";
  const EstimateCase cases[] = {
      {74, "{}", pod("{}"), 250, 209715200},
      {75, "{}", pod(kFour, kFour), 3400, 6012954214},
      {76, "{}", pod(R"({"cpu":"4"})", R"({"cpu":"8"})"), 6800, 209715200},
      {78, R"({"estimatedScalingFactors":{"cpu":80,"memory":80}})", pod(kFour), 3200, 6871947674},
      {79, "{}",
       pod(R"({"kubernetes.io/batch-cpu":"4000","kubernetes.io/batch-memory":"8Gi"})", "{}",
           R"(,"labels":{"koordinator.sh/priority-class":"koord-batch"})"),
       3400, 6012954214},
      {80, R"({"estimatedScalingFactors":{"cpu":80,"memory":80},"allowCustomizeEstimation":true})",
       pod(kFour, "{}",
           R"(,"annotations":{"scheduling.koordinator.sh/load-estimated-scaling-factors":"{\"cpu\":100}"})"),
       4000, 6871947674},
      {81, "{}",
       pod(R"({"cpu":"4"})", "{}", R"(,"labels":{"koordinator.sh/priority-class":"koord-free"})"),
       0, 0},
      {82, "{}",
       pod(R"({"cpu":"4"})", "{}", R"(,"labels":{"koordinator.sh/priority-class":"koord-mid"})"), 0,
       0},
      {812, R"({"estimateEveryBand":true})",
       pod(R"({"cpu":"4"})", "{}", R"(,"labels":{"koordinator.sh/priority-class":"koord-free"})"),
       3400, 209715200},
      {812, R"({"estimateEveryBand":true})",
       pod(R"({"cpu":"4"})", "{}", R"(,"labels":{"koordinator.sh/priority-class":"koord-mid"})"),
       3400, 209715200},
  };
  for (const auto& c : cases) {
    const LoadArgs a = args(c.args);
    const LoadVector got =
        estimate(a, *c.pod.spec, api::bandWithDefault(c.pod), c.pod.meta.annotations);
    EXPECT_EQ(got, (LoadVector{c.cpu, c.memory})) << c.number;
  }
  LoadArgs eager = args("{}");  // 77: a factor above 100 is cut by the limit
  eager.factors = {110, 70};
  const api::Pod four = pod(kFour, kFour);
  EXPECT_EQ(estimate(eager, *four.spec, api::PriorityBand::kProd, {})[0], 4000);
}

TEST(LoadEstimate, takes_allocatable_before_amplification) {  // 83
  auto node = api::decodeText<api::Node>(
      R"({"metadata":{"name":"n","annotations":{"node.koordinator.sh/raw-allocatable":
          "{\"cpu\":28,\"memory\":\"32Gi\"}"}},"status":{"allocatable":{"cpu":"32","memory":"42Gi"}}})");
  EXPECT_EQ(loadAllocatable(args("{}"), *node), (LoadVector{28000, int64_t{32} << 30}));
}

TEST(LoadEstimate, counts_estimates_until_the_deadline) {
  const LoadArgs a =
      args(R"({"estimatedSecondsAfterPodScheduled":180,"estimatedSecondsAfterInitialized":10})");
  const WallTime now = *parseTime(kNow);
  const auto scheduled = [](std::string_view time, std::string_view more = "") {
    return fmt::format(
        R"({{"conditions":[{{"type":"PodScheduled","status":"True","lastTransitionTime":"{}"}}{}]}})",
        time, more);
  };
  const auto waiting =
      assignedPod(a, pod("{}", "{}", "", "", scheduled("2026-01-15T11:59:00Z")), now);
  EXPECT_EQ(waiting.deadline, now + std::chrono::seconds(120));  // 108
  const auto started = assignedPod(
      a,
      pod("{}", "{}", "", "",
          scheduled(
              "2026-01-15T11:57:00Z",
              R"(,{"type":"Initialized","status":"True","lastTransitionTime":"2026-01-15T11:59:30Z"})")),
      now);
  EXPECT_EQ(started.deadline, now - std::chrono::seconds(20));  // 109
  // Below zero is as if the pod said nothing; zero is said.
  const auto custom =
      args(R"({"estimatedSecondsAfterPodScheduled":180,"allowCustomizeEstimation":true})");
  const auto says = [&](std::string_view seconds) {
    auto own = pod("{}", "{}", "", "", scheduled("2026-01-15T11:59:00Z"));
    own.meta.annotations.set("scheduling.koordinator.sh/load-estimated-seconds-after-pod-scheduled",
                             seconds);
    return assignedPod(custom, own, now).deadline;
  };
  EXPECT_EQ(says("30"), now - std::chrono::seconds(30));
  EXPECT_EQ(says("-30"), now + std::chrono::seconds(120));
  EXPECT_EQ(says("0"), std::nullopt);
}

// A node of 96 CPUs and 512Gi and what is reported about it.
struct Judged {
  int number;
  std::string args = "{}";
  api::Pod pod = placement::pod("{}");
  std::string usage = R"({"cpu":"0","memory":"0"})";
  std::string aggregated = "";  // JSON of aggregatedNodeUsages
  std::vector<api::Pod> assigned = {};
  std::string podsMetric = "";  // JSON of podsMetric
  std::string nodeNotes = "{}";
  std::string updated = "2026-01-15T11:59:50Z";
  bool daemon = false;
  bool unmeasured = false;  // no NodeMetric at all
  std::string reason = "";
  int64_t score = -1;  // -1: not asked
};

void judge(const Judged& c) {
  const LoadArgs a = args(c.args);
  auto node = api::decodeText<api::Node>(fmt::format(
      R"({{"metadata":{{"name":"n","annotations":{}}},"status":{{"allocatable":{{"cpu":"96","memory":"512Gi"}}}}}})",
      c.nodeNotes));
  const std::string time = c.updated.empty() ? "" : fmt::format(R"("updateTime":"{}",)", c.updated);
  auto metric = api::decodeText<api::NodeMetric>(fmt::format(
      R"({{"status":{{{}"nodeMetric":{{"nodeUsage":{{"resources":{}}},"aggregatedNodeUsages":[{}]}},"podsMetric":[{}]}}}})",
      time, c.usage, c.aggregated, c.podsMetric));
  ASSERT_TRUE(node && metric) << c.number;
  const WallTime now = *parseTime(kNow);
  std::vector<AssignedPod> assigned;
  for (const auto& other : c.assigned) assigned.push_back(assignedPod(a, other, now));
  const LoadReport report = c.unmeasured ? LoadReport() : reportOf(a, *metric);
  const LoadSums sums = sumUp(a, report, assigned);
  const NodeThresholds thresholds = thresholdsFor(a, node->meta.annotations);
  const LoadVector allocatable = loadAllocatable(a, *node);
  const auto band = api::bandWithDefault(c.pod);
  const LoadVector own = estimate(a, *c.pod.spec, band, c.pod.meta.annotations);
  const LoadQuestion q{thresholds,
                       report,
                       sums,
                       allocatable,
                       own,
                       band == api::PriorityBand::kProd,
                       c.daemon,
                       isExpired(a, report, now),
                       isStale(a, report, now)};
  EXPECT_EQ(filterLoad(a, q).reason(a), c.reason) << c.number;
  if (c.score < 0) return;
  EXPECT_EQ(scoreLoad(a, q), c.score) << c.number;
}

constexpr auto kBig = R"({"cpu":"16","memory":"32Gi"})";
const std::string kCpuOver = "node(s) cpu usage exceed threshold";

api::Pod named(std::string_view name, std::string_view requests, std::string_view scheduledAt,
               std::string_view spec = "") {
  api::Pod out = pod(
      requests, requests, "", spec,
      fmt::format(
          R"({{"conditions":[{{"type":"PodScheduled","status":"True","lastTransitionTime":"{}"}}]}})",
          scheduledAt));
  out.meta.name = api::Text(name);
  return out;
}

std::string used(std::string_view name, std::string_view cpu, std::string_view memory,
                 std::string_view priority = "koord-prod") {
  return fmt::format(
      R"({{"name":"{}","namespace":"default","priority":"{}","podUsage":{{"resources":{{"cpu":"{}","memory":"{}"}}}}}})",
      name, priority, cpu, memory);
}

TEST(LoadJudge, believes_a_report_as_long_as_it_says) {
  const WallTime now = *parseTime(kNow);
  const auto reported = [&](const char* annotations, int secondsAgo) {
    const auto metric = api::decodeText<api::NodeMetric>(
        fmt::format(R"({{"metadata":{{"annotations":{}}}}})", annotations));
    LoadReport report = reportOf({}, *metric);
    report.updatedAt = now - std::chrono::seconds(secondsAgo);
    return report;
  };
  EXPECT_TRUE(isExpired({}, reported("{}", 180), now));
  EXPECT_FALSE(isExpired({}, reported("{}", 179), now));
  const char* const held = R"({"node.mangrove.io/report-validity":"780s"})";
  EXPECT_FALSE(isExpired({}, reported(held, 779), now));
  EXPECT_TRUE(isExpired({}, reported(held, 780), now));
  EXPECT_FALSE(isExpired({}, reported(R"({"node.mangrove.io/report-validity":"60s"})", 179), now))
      << "never less than what was configured";
}

TEST(LoadJudge, filters_as_the_table_says) {
  const std::string old = "2026-01-15T11:00:00Z";
  const std::string prod = R"("priority":9500,)";
  judge({.number = 84, .usage = R"({"cpu":"60","memory":"0"})"});
  judge({.number = 85, .usage = R"({"cpu":"70","memory":"0"})", .reason = kCpuOver});
  judge({.number = 86,
         .usage = R"({"cpu":"0","memory":"500Gi"})",
         .reason = "node(s) memory usage exceed threshold"});
  judge(
      {.number = 87,
       .usage = R"({"cpu":"0","memory":"316Gi"})",
       .nodeNotes =
           R"({"scheduling.koordinator.sh/usage-thresholds":"{\"usageThresholds\":{\"memory\":60}}"})",
       .reason = "node(s) memory usage exceed threshold"});
  judge(
      {.number = 88,
       .args =
           R"({"aggregated":{"usageThresholds":{"cpu":60},"usageAggregationType":"p95","usageAggregatedDuration":"5m"}})",
       .usage = R"({"cpu":"30","memory":"0"})",
       .aggregated = R"({"duration":"5m","usage":{"p95":{"resources":{"cpu":"70"}}}})",
       .reason = "node(s) cpu aggregated usage exceed threshold"});
  judge({.number = 89,
         .args = R"({"usageThresholds":{"memory":0}})",
         .usage = R"({"cpu":"0","memory":"500Gi"})"});
  const std::vector<api::Pod> two = {named("a", "{}", old, prod), named("b", "{}", old, prod)};
  const std::string both = used("a", "30", "1Gi") + "," + used("b", "33", "1Gi");
  judge({.number = 90,
         .args = R"({"prodUsageThresholds":{"cpu":50}})",
         .pod = pod("{}", "{}", "", prod),
         .assigned = two,
         .podsMetric = both,
         .reason = kCpuOver});
  judge({.number = 91,
         .args = R"({"usageThresholds":{"cpu":100,"memory":100}})",
         .pod = pod("{}", "{}", "", prod),
         .assigned = two,
         .podsMetric = both});
  judge({.number = 92,
         .args = R"({"prodUsageThresholds":{"cpu":60}})",
         .pod = pod(R"({"cpu":"20"})", "{}", "", prod),
         .assigned = {named("a", "{}", old, prod)},
         .podsMetric = used("a", "53", "1Gi"),
         .reason = kCpuOver});
  judge({.number = 93,
         .pod = pod(R"({"kubernetes.io/mid-cpu":"12k"})", "{}", "", R"("priority":7500,)"),
         .usage = R"({"cpu":"53","memory":"0"})",
         .reason = kCpuOver});
  judge({.number = 94, .usage = R"({"cpu":"70","memory":"0"})", .daemon = true});
  judge({.number = 95, .pod = pod(kBig, kBig), .unmeasured = true, .score = 0});
  judge({.number = 96, .updated = "", .reason = "node(s) nodeMetric expired", .score = 0});
  judge({.number = 96,
         .updated = "2026-01-15T11:57:00Z",
         .reason = "node(s) nodeMetric expired",
         .score = 0});
  judge({.number = 97, .args = R"({"enableScheduleWhenNodeMetricsExpired":true})", .updated = ""});
  // 50 cores and a quarter of one for the pod are 52 % of 96.
  for (int limit : {51, 52})
    judge(
        {.number = 107,
         .args = fmt::format(
             R"({{"aggregated":{{"usageThresholds":{{"cpu":{}}},"usageAggregationType":"p95"}}}})",
             limit),
         .usage = R"({"cpu":"90","memory":"0"})",
         .aggregated =
             R"({"duration":"5m","usage":{"p95":{"resources":{"cpu":"30"}}}},
                  {"duration":"10m","usage":{"p95":{"resources":{"cpu":"50"}}}},
                  {"duration":"15m","usage":{"p95":{"resources":{}}}})",
         .reason = limit == 51 ? "node(s) cpu aggregated usage exceed threshold" : ""});
  judge({.number = 110,
         .pod = pod(R"({"cpu":"1"})", R"({"cpu":"1"})"),
         .usage = R"({"cpu":"62020m","memory":"0"})"});  // 62870 m of 96000: 65.49 %
  judge({.number = 110,
         .pod = pod(R"({"cpu":"1"})", R"({"cpu":"1"})"),
         .usage = R"({"cpu":"62030m","memory":"0"})",
         .reason = kCpuOver});  // 65.5 %
}

// Ours, each behind a switch, beside what the reference says: every threshold is checked, an age
// beyond which no metric counts, and plain usage where an aggregate is missing.
TEST(LoadJudge, answers_better_when_asked_to) {
  const std::string prod = R"("priority":9500,)";
  const std::string busy = R"({"cpu":"90","memory":"0"})";
  judge({.number = 814,
         .args = R"({"prodUsageThresholds":{"cpu":50}})",
         .pod = pod("{}", "{}", "", prod),
         .usage = busy});
  judge({.number = 814,
         .args = R"({"prodUsageThresholds":{"cpu":50},"checkEveryThreshold":true})",
         .pod = pod("{}", "{}", "", prod),
         .usage = busy,
         .reason = kCpuOver});
  for (const int age : {3601, 3600})
    judge({.number = 815,
           .args = fmt::format(
               R"({{"filterExpiredNodeMetrics":false,"nodeMetricLongestAgeSeconds":{}}})", age),
           .updated = "2026-01-15T11:00:00Z",
           .reason = age == 3600 ? "node(s) nodeMetric expired" : ""});
  const std::vector<api::Pod> old = {named("a", kBig, "2026-01-15T10:00:00Z")};
  for (const bool fallback : {false, true})
    judge(
        {.number = 813,
         .args = fmt::format(
             R"({{"aggregatedFallback":{},"aggregated":{{"scoreAggregationType":"p95","scoreAggregatedDuration":"5m"}}}})",
             fallback),
         .pod = pod(kBig, kBig),
         .assigned = old,
         .podsMetric = used("a", "1", "1Gi"),
         .score = fallback ? 90 : 81});
}

TEST(LoadJudge, scores_as_the_table_says) {
  const api::Pod big = pod(kBig, kBig);
  const std::string busy = R"({"cpu":"32","memory":"10Gi"})";
  const std::string p95 =
      R"({"aggregated":{"scoreAggregationType":"p95","scoreAggregatedDuration":"5m"}})";
  judge({.number = 98, .pod = big, .score = 90});
  judge({.number = 99, .pod = big, .usage = busy, .score = 72});
  judge({.number = 100,
         .pod = big,
         .usage = busy,
         .assigned = {named("a", kBig, kNow)},
         .score = 63});
  judge({.number = 100,
         .pod = big,
         .usage = busy,
         .assigned = {named("a", kBig, "2026-01-15T11:59:40Z")},
         .score = 63});
  judge({.number = 101,
         .args = p95,
         .pod = big,
         .aggregated =
             R"({"duration":"5m","usage":{"p95":{"resources":{"cpu":"32","memory":"10Gi"}}}})",
         .score = 72});
  judge({.number = 102, .args = p95, .pod = big, .score = 90});
  judge({.number = 103,
         .args = p95,
         .pod = big,
         .assigned = {named("a", kBig, "2026-01-15T10:00:00Z")},
         .podsMetric = used("a", "1", "1Gi"),
         .score = 81});
  judge({.number = 104,
         .args = R"({"dominantResourceWeight":10,"resourceWeights":{"cpu":1,"memory":1}})",
         .pod = big,
         .score = 85});
  // A resource that the node lacks says nothing, unless all shall count as in the reference.
  const auto withGpu = [](std::string_view more) {
    return fmt::format(R"({{"dominantResourceWeight":10,"resourceWeights":{{"cpu":1,"memory":1}},
        "supportedResources":["nvidia.com/gpu"]{}}})",
                       more);
  };
  judge({.number = 816, .args = withGpu(""), .pod = big, .score = 85});
  judge({.number = 816,
         .args = withGpu(R"(,"dominantOverAllResources":true)"),
         .pod = big,
         .score = 15});
  judge({.number = 105, .score = 99});
  judge({.number = 106,
         .args = R"({"scoreAccordingProdUsage":true,"usageThresholds":{"cpu":0,"memory":0}})",
         .pod = pod(R"({"cpu":"16000","memory":"32Gi"})", R"({"cpu":"16000","memory":"32Gi"})", "",
                    R"("priority":9500,)"),
         .assigned = {named("a", "{}", "2026-01-15T10:00:00Z", R"("priority":9500,)")},
         .podsMetric = used("a", "30", "100Gi"),
         .score = 38});
}

}  // namespace
}  // namespace mangrove::placement
