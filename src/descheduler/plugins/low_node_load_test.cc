// Cases 1 to 28 of the descheduler's specification: load, bounds, detectors, order, headroom.
#include "descheduler/plugins/low_node_load.h"

#include <functional>
#include <tuple>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "descheduler/order/pod_order.h"
#include "descheduler/testing/scene.h"
#include "json/value.h"

namespace mangrove::descheduler {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Scene;

json::Value args(std::string_view text) {
  return json::parse(text).value();
}
LowNodeLoad plugin(std::string_view text, Duration interval = Duration::zero()) {
  auto read = readLowNodeLoadArgs(args(text), interval);
  EXPECT_TRUE(read) << (read ? "" : read.error().text());
  return LowNodeLoad(std::move(*read));
}
constexpr std::string_view kAtOnce =
    R"({"lowThresholds":{"cpu":45},"highThresholds":{"cpu":75},"nodeFit":false,
        "anomalyCondition":{"consecutiveAbnormalities":1}})";

// Nodes of 4 cores with what their system uses; "<name> <milli>".
Scene nodesUsing(std::initializer_list<std::pair<std::string, std::string>> used) {
  Scene scene;
  for (const auto& [name, cpu] : used) {
    scene.node(name, {{"cpu", "4"}, {"memory", "8Gi"}});
    scene.metric(name, {{"cpu", cpu}});
  }
  return scene;
}

struct Judged {
  std::vector<NodeLoad> nodes;
  LoadClass of(std::string_view name) const {
    for (const NodeLoad& node : nodes) {
      if (node.name() == name) return classOf(node);
    }
    ADD_FAILURE() << name << " was not judged";
    return LoadClass::kNeither;
  }
};
Judged judge(const Look& look, std::string_view text) {
  const auto read = readLowNodeLoadArgs(args(text));
  EXPECT_TRUE(read);
  const Bounds bounds = completed(read->pools[0].bounds);
  const Scale scale = scaleOf(bounds);
  Judged out{measure(look, look.nodes(), scale, read->metricExpiration)};
  setLimits(out.nodes, bounds, scale);
  return out;
}

TEST(LowNodeLoad, HotIsAboveTheHighBoundAndLowIsUpToTheLowOne) {  // cases 1, 2
  const Scene scene = nodesUsing({{"a", "3000m"}, {"b", "3001m"}, {"c", "1800m"}, {"d", "1801m"}});
  const Look look = scene.look();
  const Judged judged = judge(look, kAtOnce);
  EXPECT_EQ(judged.of("a"), LoadClass::kProdLow);
  EXPECT_EQ(judged.of("b"), LoadClass::kHigh);
  EXPECT_EQ(judged.of("c"), LoadClass::kBothLow);
  EXPECT_EQ(judged.of("d"), LoadClass::kProdLow);
}

TEST(LowNodeLoad, BoundsAreTruncatedProductsOfDoubles) {  // case 3
  EXPECT_EQ(shareOf(29, 100'000), 28'999);
  EXPECT_EQ(shareOf(58, 96'000), 55'679);
}

TEST(LowNodeLoad, AResourceWithoutALowBoundIsNotLimited) {  // case 4
  Scene scene;
  scene.node("a", {{"cpu", "4"}, {"memory", "100"}});
  scene.metric("a", {{"cpu", "3"}, {"memory", "95"}});
  const Look look = scene.look();
  EXPECT_EQ(judge(look, R"({"lowThresholds":{"cpu":45},"highThresholds":{"cpu":75,"memory":80}})")
                .of("a"),
            LoadClass::kProdLow);
}

TEST(LowNodeLoad, RefusesALowBoundWithoutAHighOne) {  // case 5
  const auto read = readLowNodeLoadArgs(
      args(R"({"lowThresholds":{"cpu":45,"memory":55},"highThresholds":{"cpu":75}})"));
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().text(),
              HasSubstr("lowThresholds has memory and highThresholds does not"));
}

TEST(LowNodeLoad, OldMetricsDoNotCount) {  // case 6
  Scene scene = nodesUsing({{"a", "1"}, {"b", "1"}});
  scene.metric("a").status.updateTime = scene.now - seconds(180);
  scene.metric("b").status.updateTime = scene.now - seconds(179);
  const Look look = scene.look();
  const Judged judged = judge(look, kAtOnce);
  ASSERT_EQ(judged.nodes.size(), 1U);
  EXPECT_EQ(judged.nodes[0].name(), "b");
}

// An object that says how long its reports hold is believed so long.
TEST(LowNodeLoad, AReportHoldsAsLongAsItSays) {
  Scene scene = nodesUsing({{"a", "1"}, {"b", "1"}});
  for (const char* name : {"a", "b"})
    scene.metric(name).meta.annotations.set("node.mangrove.io/report-validity", "780s");
  scene.metric("a").status.updateTime = scene.now - seconds(780);
  scene.metric("b").status.updateTime = scene.now - seconds(779);
  const Look look = scene.look();
  const Judged judged = judge(look, kAtOnce);
  ASSERT_EQ(judged.nodes.size(), 1U);
  EXPECT_EQ(judged.nodes[0].name(), "b");
}

TEST(LowNodeLoad, UsageIsTheSystemsAndThePodsNotTheNodes) {  // case 7
  Scene scene;
  scene.node("a", {{"cpu", "4"}});
  scene.metric("a", {{"cpu", "500m"}}).status.nodeMetric->nodeUsage.resources = {{"cpu", "2500m"}};
  scene.usage("a", "p", {{"cpu", "700m"}});
  scene.usage("a", "q", {{"cpu", "800m"}});
  const Scale scale({"cpu", "pods"});
  const Look look = scene.look();
  EXPECT_EQ(scale.plain(0, measure(look, look.nodes(), scale, seconds(180))[0].usage[0]), 2000);
}

TEST(LowNodeLoad, DeviationIsMeasuredFromTheAverage) {  // cases 8, 9
  const Scene three = nodesUsing({{"a", "800m"}, {"b", "2"}, {"c", "3200m"}});
  const Look look = three.look();
  const Judged judged = judge(
      look,
      R"({"useDeviationThresholds":true,"lowThresholds":{"cpu":10},"highThresholds":{"cpu":10}})");
  EXPECT_EQ(judged.of("a"), LoadClass::kBothLow);
  EXPECT_EQ(judged.of("b"), LoadClass::kProdLow);
  EXPECT_EQ(judged.of("c"), LoadClass::kHigh);
  const Scene idle = nodesUsing({{"a", "0"}, {"b", "400m"}});  // average 5 %
  const Look quiet = idle.look();
  const Judged low = judge(
      quiet,
      R"({"useDeviationThresholds":true,"lowThresholds":{"cpu":10},"highThresholds":{"cpu":90}})");
  EXPECT_EQ(low.of("a"), LoadClass::kBothLow);
  EXPECT_NE(low.of("b"), LoadClass::kBothLow);
}

TEST(LowNodeLoad, ProdLoadHasItsOwnBounds) {  // cases 10, 11
  Scene scene = nodesUsing({{"quiet", "0"}, {"loud", "2"}});
  for (const char* node : {"quiet", "loud"}) {
    scene.pod(std::string("prod-") + node, node)
        .meta.labels.set("koordinator.sh/priority-class", "koord-prod");
    scene.usage(node, std::string("prod-") + node, {{"cpu", "1500m"}});
  }
  const Look look = scene.look();
  const Judged judged = judge(look, R"({"lowThresholds":{"cpu":45},"highThresholds":{"cpu":75},
                                        "prodLowThresholds":{"cpu":20},"prodHighThresholds":{"cpu":30}})");
  EXPECT_EQ(judged.of("quiet"), LoadClass::kProdHigh);
  EXPECT_EQ(judged.of("loud"), LoadClass::kHigh);
}

TEST(LowNodeLoad, ACordonedNodeIsNoTarget) {  // case 12
  Scene scene = nodesUsing({{"a", "0"}});
  scene.node("a", {{"cpu", "4"}}).spec.unschedulable = true;
  const Look look = scene.look();
  EXPECT_EQ(judge(look, kAtOnce).of("a"), LoadClass::kNeither);
}

// A hot node with one pod that is far too small to relieve it, beside an idle one.
Scene oneHotNode() {
  Scene scene = nodesUsing({{"cold", "0"}, {"hot", "3900m"}});
  scene.pod("p", "hot");
  scene.usage("hot", "p", {{"cpu", "1m"}});
  return scene;
}
std::vector<int> hotLooks(LowNodeLoad& plugin, Scene& scene, int looks,
                          std::function<bool(int)> hot) {
  std::vector<int> acted;
  for (int i = 0; i < looks; ++i) {
    scene.metric("hot").status.nodeMetric->systemUsage.resources = {
        {"cpu", hot(i) ? "3900m" : "2500m"}};
    const size_t before = scene.evicted.size();
    EXPECT_TRUE(scene.run(plugin, MonoTime{std::chrono::hours(1) + seconds(10) * i}));
    if (scene.evicted.size() > before) acted.push_back(i + 1);
  }
  return acted;
}
const auto kAlways = [](int) { return true; };

TEST(LowNodeLoad, ActsAfterMoreHotLooksThanAsked) {  // cases 13, 14
  struct Row {
    int wanted;
    int first;
  };
  for (const Row row : {Row{5, 6}, Row{1, 1}, Row{2, 3}}) {
    Scene scene = oneHotNode();
    LowNodeLoad load =
        plugin(fmt::format(R"({{"lowThresholds":{{"cpu":45}},"highThresholds":{{"cpu":75}},
        "nodeFit":false,"anomalyCondition":{{"consecutiveAbnormalities":{}}}}})",
                           row.wanted),
               seconds(10));
    EXPECT_EQ(hotLooks(load, scene, 6, kAlways).front(), row.first) << row.wanted;
  }
}

TEST(LowNodeLoad, AnAnomalyLastsForItsTimeAndMustThenBeEarnedAgain) {  // case 15
  Scene scene = oneHotNode();
  LowNodeLoad load = plugin(
      R"({"lowThresholds":{"cpu":45},"highThresholds":{"cpu":75},"nodeFit":false})", seconds(10));
  EXPECT_THAT(hotLooks(load, scene, 19, kAlways), ElementsAre(6, 7, 8, 9, 10, 11, 12, 18, 19));
}

TEST(LowNodeLoad, HotEverySecondLookIsNotHotInARow) {  // case 16
  Scene scene = oneHotNode();
  LowNodeLoad load = plugin(
      R"({"lowThresholds":{"cpu":45},"highThresholds":{"cpu":75},"nodeFit":false})", seconds(10));
  EXPECT_THAT(hotLooks(load, scene, 12, [](int i) { return i % 2 == 0; }), IsEmpty());
}

TEST(LowNodeLoad, NeedsMoreLowNodesThanNumberOfNodes) {  // case 17
  const auto withLows = [](int lows) {
    Scene scene = oneHotNode();
    for (int i = 1; i < lows; ++i) {
      scene.node("cold" + std::to_string(i), {{"cpu", "4"}});
      scene.metric("cold" + std::to_string(i));
    }
    LowNodeLoad load =
        plugin(R"({"lowThresholds":{"cpu":45},"highThresholds":{"cpu":75},"nodeFit":false,
                                  "numberOfNodes":2,"anomalyCondition":{"consecutiveAbnormalities":1}})");
    EXPECT_TRUE(scene.run(load));
    return scene.evicted.size();
  };
  EXPECT_EQ(withLows(2), 0U);
  EXPECT_EQ(withLows(3), 1U);
}

TEST(LowNodeLoad, AStaleNodeIsNeitherSourceNorTarget) {  // case 18
  Scene scene = oneHotNode();
  scene.node("stale", {{"cpu", "4"}});
  LowNodeLoad load = plugin(kAtOnce);
  EXPECT_TRUE(scene.run(load));
  EXPECT_THAT(scene.evicted, ElementsAre("p"));
}

TEST(LowNodeLoad, WhoCoversTheExcessBestGoesFirst) {  // case 19
  const Scale scale({"cpu"});
  const Loads excess = {scale.fromPlain(0, 1000)};
  const Weights weights = {{"cpu", 1}};
  const auto score = [&](int64_t milli) {
    return coverScore(scale, {scale.fromPlain(0, milli)}, excess, weights);
  };
  EXPECT_EQ(score(500), 0.5);
  EXPECT_EQ(score(1000), 2.0);
  EXPECT_EQ(score(2000), 1.5);
  EXPECT_EQ(score(4000), 1.25);
}

std::vector<std::string> orderOf(Scene& scene, const std::string& node) {
  const Look look = scene.look();
  const Scale scale({"cpu", "pods"});
  const auto loads = measure(look, {look.node(node)}, scale, seconds(180));
  std::vector<const PodLoad*> pods;
  for (const PodLoad& pod : loads[0].pods) pods.push_back(&pod);
  sortForEviction(pods, scale, {scale.fromPlain(0, 1000), 0}, {{"cpu", 1}});
  std::vector<std::string> names;
  for (const PodLoad* pod : pods) names.push_back(pod->pod->meta.name.str());
  return names;
}

TEST(LowNodeLoad, ClassBeforeUsageAndCostBeforeUsage) {  // cases 20, 21
  Scene scene = nodesUsing({{"n", "0"}});
  scene.pod("prod", "n").meta.labels.set("koordinator.sh/priority-class", "koord-prod");
  scene.usage("n", "prod", {{"cpu", "2"}});
  scene.pod("batch", "n").meta.labels.set("koordinator.sh/priority-class", "koord-batch");
  scene.usage("n", "batch", {{"cpu", "100m"}});
  EXPECT_THAT(orderOf(scene, "n"), ElementsAre("batch", "prod"));

  Scene costs = nodesUsing({{"n", "0"}});
  const auto pod = [&](const char* name, const char* deletion, const char* eviction) {
    auto& annotations = costs.pod(name, "n").meta.annotations;
    annotations.set("controller.kubernetes.io/pod-deletion-cost", deletion);
    annotations.set("scheduling.koordinator.sh/eviction-cost", eviction);
  };
  pod("five", "5", "0");
  pod("none-7", "0", "7");
  pod("none-1", "0", "1");
  pod("minus", "-10", "0");
  EXPECT_THAT(orderOf(costs, "n"), ElementsAre("minus", "none-1", "none-7", "five"));
}

TEST(LowNodeLoad, StopsWhenTheHeadroomIsUsedUp) {  // case 22
  Scene scene = nodesUsing({{"a", "500m"}, {"b", "1000m"}});
  scene.node("hot", {{"cpu", "10"}, {"memory", "8Gi"}});
  scene.metric("hot", {{"cpu", "8"}});
  for (const auto& [name, cpu] :
       {std::pair("p1", "2500m"), std::pair("p2", "2000m"), std::pair("p3", "1")}) {
    scene.pod(name, "hot")
        .meta.annotations.set("controller.kubernetes.io/pod-deletion-cost",
                              std::string(1, name[1]));
    scene.usage("hot", name, {{"cpu", cpu}});
  }
  LowNodeLoad load = plugin(kAtOnce);
  EXPECT_TRUE(scene.run(load));
  EXPECT_THAT(scene.evicted, ElementsAre("p1", "p2"));
}

TEST(LowNodeLoad, RoomIsTakenByWhoMovesInTheOrderOfMoving) {  // case 23
  Scene scene = nodesUsing({{"cold", "1700m"}});
  scene.node("hot", {{"cpu", "4"}, {"memory", "8Gi"}});
  scene.metric("hot", {{"cpu", "1700m"}});
  for (const auto& [name, cpu, cost] :
       {std::tuple("a", "1", "2"), std::tuple("b", "1", "3"), std::tuple("c", "400m", "1")}) {
    scene.pod(name, "hot").meta.annotations.set("controller.kubernetes.io/pod-deletion-cost", cost);
    scene.usage("hot", name, {{"cpu", cpu}});
  }
  LowNodeLoad load = plugin(R"({"lowThresholds":{"cpu":45},"highThresholds":{"cpu":75},
                                "anomalyCondition":{"consecutiveAbnormalities":1}})");
  EXPECT_TRUE(scene.run(load));
  EXPECT_THAT(scene.evicted, ElementsAre("c")) << "2100 m after c; 3100 m with a or b is too much";
}

TEST(LowNodeLoad, RoomComesBackWhenAnEvictionFails) {
  Scene scene = nodesUsing({{"cold", "1700m"}});
  scene.node("hot", {{"cpu", "4"}, {"memory", "8Gi"}});
  scene.metric("hot", {{"cpu", "1500m"}});
  for (const auto& [name, cost] : {std::pair("a", "1"), std::pair("b", "2")}) {
    scene.pod(name, "hot").meta.annotations.set("controller.kubernetes.io/pod-deletion-cost", cost);
    scene.usage("hot", name, {{"cpu", "1"}});
  }
  scene.failing = {"a"};
  LowNodeLoad load = plugin(R"({"lowThresholds":{"cpu":45},"highThresholds":{"cpu":75},
                                "anomalyCondition":{"consecutiveAbnormalities":1}})");
  EXPECT_TRUE(scene.run(load));
  EXPECT_THAT(scene.evicted, ElementsAre("b"));
}

TEST(LowNodeLoad, StopsAtItsBoundAndBeginsAnew) {  // case 24
  Scene scene = nodesUsing({{"cold", "0"}, {"hot", "2"}});
  for (const char* name : {"p1", "p2"}) scene.pod(name, "hot");
  scene.usage("hot", "p1", {{"cpu", "900m"}});
  scene.usage("hot", "p2", {{"cpu", "1"}});
  LowNodeLoad load =
      plugin(R"({"lowThresholds":{"cpu":45},"highThresholds":{"cpu":75},"nodeFit":false,
                                "anomalyCondition":{"consecutiveAbnormalities":2}})",
             seconds(10));
  const auto run = [&](int look) {
    EXPECT_TRUE(scene.run(load, MonoTime{std::chrono::hours(1) + seconds(10) * look}));
  };
  for (int look = 0; look < 3; ++look) run(look);
  EXPECT_THAT(scene.evicted, ElementsAre("p1")) << "3900 m minus 900 m is the bound";
  run(3);
  run(4);
  EXPECT_EQ(scene.evicted.size(), 1U) << "hot looks are counted from the start";
  run(5);
  EXPECT_EQ(scene.evicted.size(), 2U);
}

TEST(LowNodeLoad, WhoWasNotMeasuredMovesOnlyWithoutNodeFit) {  // case 25
  for (const bool nodeFit : {true, false}) {
    Scene scene = nodesUsing({{"cold", "0"}, {"hot", "3900m"}});
    scene.pod("unmeasured", "hot");
    LowNodeLoad load = plugin(
        fmt::format(R"({{"lowThresholds":{{"cpu":45}},"highThresholds":{{"cpu":75}},"nodeFit":{},
                                              "anomalyCondition":{{"consecutiveAbnormalities":1}}}})",
                    nodeFit));
    EXPECT_TRUE(scene.run(load));
    EXPECT_EQ(scene.evicted.empty(), nodeFit);
  }
}

TEST(LowNodeLoad, SharesAreOfTheRealNodeNotOfTheAmplifiedOne) {  // case 26
  Scene scene;
  scene.node("a", {{"cpu", "15"}, {"memory", "8Gi"}})
      .meta.annotations.set("node.koordinator.sh/raw-allocatable", R"({"cpu":"10"})");
  scene.metric("a");
  const Look look = scene.look();
  const Judged judged = judge(look, kAtOnce);
  EXPECT_EQ(judged.nodes[0].limits.high[0], 7'500'000'000);
  EXPECT_EQ(judged.nodes[0].capacity[1], int64_t{8} << 30)
      << "what the annotation does not name stays";
}

TEST(LowNodeLoad, ADryRunEvictsNobody) {  // case 27
  Scene scene = oneHotNode();
  LowNodeLoad load = plugin(
      R"({"dryRun":true,"lowThresholds":{"cpu":45},"highThresholds":{"cpu":75},"nodeFit":false,
                                "anomalyCondition":{"consecutiveAbnormalities":1}})");
  EXPECT_TRUE(scene.run(load));
  EXPECT_THAT(scene.evicted, IsEmpty());
}

TEST(LowNodeLoad, SaysWhatIsTooMuch) {  // case 28
  Scene scene = oneHotNode();
  scene.usage("hot", "q", {{"cpu", "19m"}});
  LowNodeLoad load = plugin(kAtOnce);
  EXPECT_TRUE(scene.run(load));
  EXPECT_THAT(scene.reasons,
              ElementsAre("node is overutilized, node cpu usage(98.00%)>threshold(75.00%)"));
}

TEST(LowNodeLoad, AConditionWithATimeoutAloneKeepsTheUsualCounts) {  // case 55
  const auto read = readLowNodeLoadArgs(args(R"({"anomalyCondition":{"timeout":"2m"}})"));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->pools[0].anomaly, (AnomalyCondition{std::chrono::minutes(2), 5, 3}));
}

TEST(LowNodeLoad, PoolsTakeWhatTheyDoNotSay) {
  const auto read = readLowNodeLoadArgs(args(
      R"({"lowThresholds":{"cpu":45},"highThresholds":{"cpu":75},"resourceWeights":{"cpu":0},
          "nodePools":[{"name":"gpu","highThresholds":{"cpu":60},"anomalyCondition":{"consecutiveNormalities":7}}]})"));
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->pools.size(), 2U);
  EXPECT_EQ(read->pools[0].weights, (Weights{{"cpu", 1}}));
  EXPECT_EQ(read->pools[1].bounds.low, (Percents{{"cpu", 45}}));
  EXPECT_EQ(read->pools[1].bounds.high, (Percents{{"cpu", 60}}));
  EXPECT_EQ(read->pools[1].anomaly, (AnomalyCondition{std::chrono::minutes(1), 5, 7}));
}

TEST(LowNodeLoad, SaysWhatIsWrongWithItsArguments) {
  struct Row {
    const char* text;
    const char* says;
  };
  for (const Row& row : {
           Row{R"({"lowThresholds":{"cpu":80},"highThresholds":{"cpu":75}})",
               "lowThresholds.cpu is 80, above"},
           Row{R"({"highThresholds":{"cpu":-1}})", "want a percentage"},
           Row{R"({"highTresholds":{}})", "did you mean 'highThresholds'"},
           Row{R"({"nodeMetricExpirationSeconds":0})", "want more than 0"},
           Row{R"({"evictableNamespaces":{"include":["a"],"exclude":["b"]}})", "both set"},
       }) {
    const auto read = readLowNodeLoadArgs(args(row.text));
    ASSERT_FALSE(read) << row.text;
    EXPECT_THAT(read.error().text(), HasSubstr(row.says));
  }
}

}  // namespace
}  // namespace mangrove::descheduler
