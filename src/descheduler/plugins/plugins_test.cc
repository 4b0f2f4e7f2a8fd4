// Cases 51 to 54, and the ported plugins.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/wire/decode.h"
#include "base/number/rng.h"
#include "descheduler/plugins/anti_affinity.h"
#include "descheduler/plugins/custom_priority.h"
#include "descheduler/plugins/fragmentation_aware.h"
#include "descheduler/plugins/node_utilization.h"
#include "descheduler/plugins/ported.h"
#include "descheduler/plugins/scale_down_bin_pack.h"
#include "descheduler/plugins/topology_spread.h"
#include "descheduler/testing/scene.h"
#include "json/value.h"

namespace mangrove::descheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kNoon;
using ::testing::Pair;
using testing::Scene;
using ::testing::UnorderedElementsAre;

template <class P, auto Read>
P make(std::string_view text) {
  auto args = Read(json::parse(text).value());
  EXPECT_TRUE(args) << (args ? "" : args.error().text());
  return P(std::move(*args));
}

// ---- FragmentationAware ------------------------------------------------------------------------

TEST(Fragmentation, IsTheSpreadOfRequestedShares) {  // case 51
  const api::ResourceList node{{"cpu", "10"}, {"memory", "100Gi"}};
  EXPECT_NEAR(imbalanceOf({{"cpu", "8"}, {"memory", "20Gi"}}, node, {"cpu", "memory"}), 0.30, 1e-9);
  EXPECT_NEAR(imbalanceOf({{"cpu", "5"}, {"memory", "18Gi"}}, node, {"cpu", "memory"}), 0.16, 1e-9);
  EXPECT_NEAR(imbalanceOf({{"cpu", "3"}, {"memory", "10Gi"}}, node, {"cpu", "memory"}), 0.10, 1e-9);
  EXPECT_EQ(imbalanceOf({{"cpu", "8"}}, {{"cpu", "10"}}, {"cpu", "memory"}), 0);
}

Scene lopsided() {
  Scene scene;
  scene.node("n1", {{"cpu", "10"}, {"memory", "100Gi"}});
  scene.node("n2", {{"cpu", "10"}, {"memory", "100Gi"}});
  scene.pod("small", "n1", {{"cpu", "3"}, {"memory", "2Gi"}});
  scene.pod("large", "n1", {{"cpu", "5"}, {"memory", "18Gi"}});
  return scene;
}

TEST(Fragmentation, TakesTheOnePodThatHelpsMost) {  // case 51
  Scene scene = lopsided();
  auto plugin = make<FragmentationAware, readFragmentationArgs>("{}");
  EXPECT_TRUE(scene.run(plugin));
  ASSERT_EQ(scene.evicted.size(), 1U) << "one pod per node and cycle";
  EXPECT_THAT(scene.reasons[0], HasSubstr("fragmentation reduction: stdBefore=0.3000 stdAfter="));
}

TEST(Fragmentation, LeavesWhatIsNotAboveTheThreshold) {  // case 51
  Scene scene = lopsided();
  auto plugin = make<FragmentationAware, readFragmentationArgs>(R"({"imbalanceThreshold":0.31})");
  EXPECT_TRUE(scene.run(plugin));
  EXPECT_THAT(scene.evicted, IsEmpty());
}

// ---- ScaleDownBinPack --------------------------------------------------------------------------

Scene twoNodes() {
  Scene scene;
  for (const char* node : {"a", "b"}) scene.node(node, {{"cpu", "10"}, {"memory", "10Gi"}});
  const auto pod = [&](const char* name, const char* node, const char* cpu, const char* memory,
                       bool meant) {
    api::Pod& made = scene.pod(name, node, {{"cpu", cpu}, {"memory", memory}});
    if (meant) made.meta.labels.set("app", "batch");
  };
  pod("a-target", "a", "2", "2Gi", true);
  pod("a-other", "a", "1", "1Gi", false);
  pod("b-small", "b", "1", "1Gi", true);
  pod("b-large", "b", "3", "3Gi", true);
  pod("b-kept", "b", "1m", "1", true);
  scene.refused = {"b-kept"};
  return scene;
}
constexpr std::string_view kBatch =
    R"("podSelectors":[{"name":"x","selector":{"matchLabels":{"app":"batch"}}}])";

TEST(BinPack, WritesTheOrderInWhichPodsShouldGo) {  // case 52
  Scene scene = twoNodes();
  auto plugin = make<ScaleDownBinPack, readBinPackArgs>(fmt::format("{{{}}}", kBatch));
  EXPECT_TRUE(scene.run(plugin));
  EXPECT_THAT(scene.costs, UnorderedElementsAre(Pair("b-large", 0), Pair("b-small", 1),
                                                Pair("a-target", 2), Pair("b-kept", 2147483647)));
}

TEST(BinPack, EvictsByThatOrderUpToItsLimit) {
  Scene scene = twoNodes();
  scene.failing = {"b-large"};
  auto plugin = make<ScaleDownBinPack, readBinPackArgs>(
      fmt::format(R"({{"strategy":"EvictDirectly","maxPodsToEvict":1,{}}})", kBatch));
  EXPECT_TRUE(scene.run(plugin));
  EXPECT_THAT(scene.evicted, ElementsAre("b-small"));
}

TEST(BinPack, WritesNothingInADryRun) {
  Scene scene = twoNodes();
  scene.dryRun = true;
  auto plugin = make<ScaleDownBinPack, readBinPackArgs>("{}");
  EXPECT_TRUE(scene.run(plugin));
  EXPECT_TRUE(scene.costs.empty());
}

// ---- CustomPriority ----------------------------------------------------------------------------

constexpr std::string_view kLevels =
    R"("evictionOrder":[{"name":"dear","nodeSelector":{"matchLabels":{"tier":"dear"}}},
                        {"name":"cheap","nodeSelector":{"matchLabels":{"tier":"cheap"}}}])";

TEST(CustomPriorityPlugin, GivesUpAfterFiveMisfitsInARow) {  // case 53
  Scene scene;
  scene.node("dear", {{"cpu", "100"}}, {{"tier", "dear"}});
  scene.node("cheap", {{"cpu", "1"}}, {{"tier", "cheap"}});
  for (int i = 1; i <= 6; ++i) {
    api::Pod& pod = scene.pod("p" + std::to_string(i), "dear", {{"cpu", std::to_string(i + 1)}});
    // The sixth would fit: it asks for nothing but what is there. It is not tried.
    if (i == 6)
      pod.spec = api::changed(pod.spec, [](api::PodSpec& s) { s.overhead = {{"cpu", "-6"}}; });
  }
  auto plugin = make<CustomPriority, readCustomPriorityArgs>(fmt::format("{{{}}}", kLevels));
  EXPECT_TRUE(scene.run(plugin));
  EXPECT_THAT(scene.evicted, IsEmpty());
}

TEST(CustomPriorityPlugin, MovesTheSmallestFirst) {
  Scene scene;
  scene.node("dear", {{"cpu", "100"}}, {{"tier", "dear"}});
  scene.node("cheap", {{"cpu", "10"}}, {{"tier", "cheap"}});
  scene.pod("large", "dear", {{"cpu", "3"}});
  scene.pod("small", "dear", {{"cpu", "1"}});
  auto plugin = make<CustomPriority, readCustomPriorityArgs>(fmt::format("{{{}}}", kLevels));
  EXPECT_TRUE(scene.run(plugin));
  EXPECT_THAT(scene.evicted, ElementsAre("small", "large"));
  EXPECT_EQ(scene.reasons[0], "evicting from dear priority resource to lower priority resource");
}

TEST(CustomPriorityPlugin, DrainsANodeWholeOrNotAtAll) {  // case 54
  const auto drain = [](const char* room) {
    Scene scene;
    scene.node("dear", {{"cpu", "100"}}, {{"tier", "dear"}});
    scene.node("cheap", {{"cpu", room}}, {{"tier", "cheap"}});
    scene.pod("p1", "dear", {{"cpu", "2"}});
    scene.pod("p2", "dear", {{"cpu", "2"}});
    auto plugin = make<CustomPriority, readCustomPriorityArgs>(
        fmt::format(R"({{"mode":"DrainNode","autoCordon":true,{}}})", kLevels));
    EXPECT_TRUE(scene.run(plugin));
    return scene;
  };
  const Scene tight = drain("3");
  EXPECT_THAT(tight.evicted, IsEmpty());
  EXPECT_THAT(tight.cordons, IsEmpty());
  const Scene wide = drain("4");
  EXPECT_THAT(wide.evicted, ElementsAre("p1", "p2"));
  EXPECT_THAT(wide.cordons, ElementsAre("+dear"));
  EXPECT_EQ(wide.reasons[0], "drain node dear (sourcePriority=dear)");
}

TEST(CustomPriorityPlugin, TakesBackOnlyItsOwnCordon) {
  for (const bool byHand : {false, true}) {
    Scene scene;
    scene.node("dear", {{"cpu", "100"}}, {{"tier", "dear"}}).spec.unschedulable = byHand;
    scene.node("cheap", {{"cpu", "10"}}, {{"tier", "cheap"}});
    scene.pod("p", "dear", {{"cpu", "1"}});
    scene.failing = {"p"};
    auto plugin = make<CustomPriority, readCustomPriorityArgs>(
        fmt::format(R"({{"mode":"DrainNode","autoCordon":true,{}}})", kLevels));
    EXPECT_TRUE(scene.run(plugin));
    if (byHand) {
      EXPECT_THAT(scene.cordons, IsEmpty());
    } else {
      EXPECT_THAT(scene.cordons, ElementsAre("+dear", "-dear"));
    }
  }
}

TEST(CustomPriorityPlugin, NeedsTwoLevels) {
  EXPECT_FALSE(readCustomPriorityArgs(json::parse(R"({"evictionOrder":[]})").value()));
}

// ---- ported ------------------------------------------------------------------------------------

TEST(Ported, PodsThatLiveTooLongGoOldestFirst) {
  Scene scene;
  scene.node("n", {});
  scene.pod("old", "n").meta.creationTimestamp = kNoon - std::chrono::hours(3);
  scene.pod("older", "n").meta.creationTimestamp = kNoon - std::chrono::hours(5);
  scene.pod("young", "n");
  auto plugin = make<PodLifeTime, readPodLifeTimeArgs>(R"({"maxPodLifeTimeSeconds":7200})");
  EXPECT_TRUE(scene.run(plugin));
  EXPECT_THAT(scene.evicted, ElementsAre("older", "old"));
  EXPECT_FALSE(readPodLifeTimeArgs(json::parse("{}").value())) << "at least one criterion";
}

TEST(Ported, FailedPodsGoAfterAnHour) {
  Scene scene;
  scene.node("n", {});
  const auto pod = [&](const char* name, api::PodPhase phase, std::chrono::minutes age) {
    api::Pod& made = scene.pod(name, "n");
    made.status.phase = phase;
    made.meta.creationTimestamp = kNoon - age;
  };
  pod("failed", api::PodPhase::kFailed, std::chrono::minutes(120));
  pod("fine", api::PodPhase::kRunning, std::chrono::minutes(120));
  pod("young", api::PodPhase::kFailed, std::chrono::minutes(5));
  auto plugin = make<RemoveFailedPods, readFailedPodsArgs>("{}");
  EXPECT_TRUE(scene.run(plugin));
  EXPECT_THAT(scene.evicted, ElementsAre("failed"));
}

TEST(Ported, RestartsAreCounted) {
  Scene scene;
  scene.node("n", {});
  scene.pod("often", "n").status.containers.emplace_back().restartCount = 10;
  scene.pod("seldom", "n").status.containers.emplace_back().restartCount = 9;
  auto plugin = make<TooManyRestarts, readRestartsArgs>(R"({"podRestartThreshold":10})");
  EXPECT_TRUE(scene.run(plugin));
  EXPECT_THAT(scene.evicted, ElementsAre("often"));
}

TEST(Ported, WhoDoesNotTolerateItsNodeGoes) {
  Scene scene;
  api::Taint taint;
  taint.key = Interned("gpu");
  taint.effect = api::TaintEffect::kNoSchedule;
  scene.node("n", {}).spec.taints = {taint};
  scene.pod("stranger", "n");
  api::Pod& guest = scene.pod("guest", "n");
  guest.spec = api::changed(guest.spec, [](api::PodSpec& spec) {
    api::Toleration all;
    all.match = api::Toleration::Match::kExists;
    spec.tolerations = {all};
  });
  auto plugin = make<ViolatingNodeTaints, readNodeTaintsArgs>("{}");
  EXPECT_TRUE(scene.run(plugin));
  EXPECT_THAT(scene.evicted, ElementsAre("stranger"));
  Scene excluded = scene;
  excluded.evicted.clear();
  auto lenient = make<ViolatingNodeTaints, readNodeTaintsArgs>(R"({"excludedTaints":["gpu"]})");
  EXPECT_TRUE(excluded.run(lenient));
  EXPECT_THAT(excluded.evicted, IsEmpty());
}

TEST(Ported, WhoIsNoLongerWantedByItsNodeGoesWhereAnotherTakesIt) {
  Scene scene;
  scene.node("n", {{"cpu", "1"}});
  scene.node("ssd", {{"cpu", "1"}}, {{"disk", "ssd"}});
  api::Pod& pod = scene.pod("p", "n");
  pod.spec = api::changed(pod.spec, [](api::PodSpec& spec) {
    spec.nodeSelector = {{"disk", "ssd"}};
  });
  auto plugin = make<ViolatingNodeAffinity, readNodeAffinityArgs>(
      R"({"nodeAffinityType":["requiredDuringSchedulingIgnoredDuringExecution"]})");
  EXPECT_TRUE(scene.run(plugin));
  EXPECT_THAT(scene.evicted, ElementsAre("p"));
}

Scene fullAndEmpty() {
  Scene scene;
  for (const char* node : {"full", "empty"}) scene.node(node, {{"cpu", "10"}, {"memory", "10Gi"}});
  for (int i = 0; i < 8; ++i) scene.pod("f" + std::to_string(i), "full", {{"cpu", "1"}});
  scene.pod("e", "empty", {{"cpu", "1"}});
  return scene;
}

TEST(Ported, NodesThatAreAskedForTooMuchGiveToOthers) {
  Scene scene = fullAndEmpty();
  auto plugin = make<LowNodeUtilization, readLowUtilizationArgs>(
      R"({"thresholds":{"cpu":20},"targetThresholds":{"cpu":50}})");
  EXPECT_TRUE(scene.run(plugin));
  EXPECT_EQ(scene.evicted.size(), 3U) << "from 80 % to 50 %";
  EXPECT_FALSE(readLowUtilizationArgs(
      json::parse(R"({"thresholds":{"cpu":60},"targetThresholds":{"cpu":50}})").value()));
}

TEST(Ported, NodesThatAreAskedForLittleAreEmptied) {
  Scene scene = fullAndEmpty();
  auto plugin = make<HighNodeUtilization, readHighUtilizationArgs>(R"({"thresholds":{"cpu":20}})");
  EXPECT_TRUE(scene.run(plugin));
  EXPECT_THAT(scene.evicted, ElementsAre("e"));
}

TEST(Ported, DuplicatesAreSpreadEvenly) {
  Scene scene;
  for (const char* node : {"a", "b"}) scene.node(node, {{"cpu", "8"}});
  for (int i = 0; i < 4; ++i) scene.pod("p" + std::to_string(i), "a");
  auto plugin = make<RemoveDuplicates, readDuplicatesArgs>("{}");
  EXPECT_TRUE(scene.run(plugin));
  EXPECT_THAT(scene.evicted, ElementsAre("p2", "p3"));
}

// ---- affinity between pods, and spread ---------------------------------------------------------

// The spec as an object carries it, laid over a pod of the scene.
void say(api::Pod& pod, std::string_view labels, std::string_view spec) {
  const std::string text = fmt::format(
      R"({{"metadata":{{"name":"x","namespace":"d","labels":{}}},"spec":{}}})", labels, spec);
  const auto read = api::decodeText<api::Pod>(text);
  ASSERT_TRUE(read) << read.error().text();
  pod.meta.labels = read->meta.labels;
  api::PodSpec changed = *pod.spec;
  changed.affinity = read->spec->affinity;
  changed.spread = read->spec->spread;
  pod.spec = api::Shared<api::PodSpec>(std::move(changed));
}

constexpr std::string_view kAlone =
    R"({"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[)"
    R"({"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"web"}}}]}}})";

Scene twoZones() {
  Scene scene;
  for (const char* name : {"n1", "n2", "n3"}) {
    scene.node(name, {{"cpu", "10"}, {"memory", "100Gi"}, {"pods", "110"}},
               {{"zone", name == std::string("n3") ? "b" : "a"}});
  }
  return scene;
}

TEST(Ported, OneOfTwoThatDoNotWantEachOtherGoes) {
  Scene scene = twoZones();
  say(scene.pod("one", "n1"), R"({"app":"web"})", kAlone);
  say(scene.pod("two", "n2"), R"({"app":"web"})", kAlone);  // another node of the same zone
  say(scene.pod("far", "n3"), R"({"app":"web"})", kAlone);
  auto plugin = make<ViolatingAntiAffinity, readAntiAffinityArgs>("{}");
  EXPECT_TRUE(scene.run(plugin));
  EXPECT_EQ(scene.evicted.size(), 1U) << "who has gone troubles nobody";
  EXPECT_NE(scene.evicted[0], "far");
}

TEST(Ported, AntiAffinityIsTheWordOfThePodThatHasIt) {
  Scene scene = twoZones();
  scene.pod("calm", "n1").meta.labels.set("app", "web");
  say(scene.pod("shy", "n1"), R"({"app":"db"})", kAlone);
  scene.refused = {"shy"};
  auto plugin = make<ViolatingAntiAffinity, readAntiAffinityArgs>("{}");
  EXPECT_TRUE(scene.run(plugin));
  EXPECT_THAT(scene.evicted, IsEmpty()) << "calm wants nothing, and shy may not be evicted";
  scene.refused.clear();
  EXPECT_TRUE(scene.run(plugin));
  EXPECT_THAT(scene.evicted, ElementsAre("shy"));
}

TEST(Spread, MovesNoMoreThanTheConstraintAsksFor) {
  struct Row {
    std::vector<size_t> sizes;
    int64_t maxSkew;
    std::vector<Move> moves;
  };
  for (const Row& row : {
           Row{{}, 1, {}},
           Row{{7}, 1, {}},
           Row{{2, 2, 2}, 1, {}},
           Row{{3, 2, 2}, 1, {}},
           Row{{5, 0}, 1, {{0, 1, 2}}},
           Row{{5, 0}, 4, {{0, 1, 1}}},
           Row{{5, 0}, 5, {}},
           Row{{3, 0}, 0, {{0, 1, 1}}},
           Row{{0, 6, 0}, 1, {{1, 0, 2}, {1, 2, 2}}},
       }) {
    EXPECT_EQ(movesToBalance(row.sizes, row.maxSkew), row.moves)
        << fmt::format("{}", row.sizes.size());
  }
}

TEST(Spread, EndsWithinTheSkewWhateverTheSizes) {
  Rng rng(7);
  const auto next = [&](uint64_t below) { return rng.next() % below; };
  for (int round = 0; round < 2000; ++round) {
    std::vector<size_t> sizes(1 + next(6));
    for (size_t& size : sizes) size = next(12);
    const int64_t skew = 1 + static_cast<int64_t>(next(3));
    for (const Move& move : movesToBalance(sizes, skew)) {
      ASSERT_LE(move.pods, sizes[move.from]);
      sizes[move.from] -= move.pods;
      sizes[move.to] += move.pods;
    }
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    EXPECT_LE(*most - *least, static_cast<size_t>(skew));
  }
}

constexpr std::string_view kSpread =
    R"({"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone",)"
    R"("whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"web"}}}]})";

TEST(Spread, AFullZoneGivesToAnEmptyOne) {
  Scene scene = twoZones();
  for (const char* name : {"p1", "p2", "p3", "p4"}) {
    say(scene.pod(name, "n1", {{"cpu", "1"}}), R"({"app":"web"})", kSpread);
  }
  scene.refused = {"p4"};
  auto plugin = make<ViolatingTopologySpread, readTopologySpreadArgs>("{}");
  EXPECT_TRUE(scene.run(plugin));
  EXPECT_EQ(scene.evicted.size(), 2U);
  EXPECT_THAT(scene.evicted, ::testing::Not(::testing::Contains("p4")));
  EXPECT_THAT(scene.reasons[0], HasSubstr("its spread over zone differs by more than 1"));
}

TEST(Spread, WhoFitsIntoNoEmptierZoneStays) {
  Scene scene = twoZones();
  for (const char* name : {"p1", "p2", "p3", "p4"}) {
    say(scene.pod(name, "n1", {{"cpu", "1"}}), R"({"app":"web"})", kSpread);
  }
  scene.pod("filler", "n3", {{"cpu", "10"}});
  auto strict = make<ViolatingTopologySpread, readTopologySpreadArgs>("{}");
  EXPECT_TRUE(scene.run(strict));
  EXPECT_THAT(scene.evicted, IsEmpty());
  auto anyway =
      make<ViolatingTopologySpread, readTopologySpreadArgs>(R"({"topologyBalanceNodeFit":false})");
  EXPECT_TRUE(scene.run(anyway));
  EXPECT_EQ(scene.evicted.size(), 2U);
}

TEST(Spread, SoftConstraintsCountWhereToldTo) {
  const auto wrong =
      readTopologySpreadArgs(json::parse(R"({"constraints":["Sometimes"]})").value());
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().text(), HasSubstr("want DoNotSchedule or ScheduleAnyway"));
  const auto soft =
      readTopologySpreadArgs(json::parse(R"({"constraints":["ScheduleAnyway"]})").value());
  EXPECT_TRUE(soft->soft && !soft->hard);
}

}  // namespace
}  // namespace mangrove::descheduler
