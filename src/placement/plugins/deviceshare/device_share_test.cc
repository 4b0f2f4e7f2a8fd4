// The cases of devices through the whole engine: eight cards in pairs on four switches.
#include "placement/plugins/deviceshare/device_share.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include "api/wire/names.h"
#include "placement/testing/device_box.h"

namespace mangrove::placement {
namespace {

using testing::HasSubstr;

std::string quoted(std::string_view key, std::string_view json) {
  std::string text;
  for (char c : json) text += c == '"' ? std::string("\\\"") : std::string(1, c);
  return fmt::format(R"("{}":"{}")", key, text);
}
std::string hint(std::string_view json) {
  return quoted(api::annotation::kDeviceAllocateHint, json);
}
std::string joint(std::string_view scope = "") {
  return quoted(api::annotation::kDeviceJointAllocate,
                scope.empty() ? R"({"deviceTypes":["gpu","rdma"]})"
                              : R"({"deviceTypes":["gpu","rdma"],"requiredScope":"SamePCIe"})");
}
const std::string kFunctions =
    hint(R"({"rdma":{"vfSelector":{"matchLabels":{"type":"general"}}}})");

Asked withNic(int gpus) {
  Asked out = cards(gpus);
  out.emplace_back("koordinator.sh/rdma", "1");
  return out;
}

// A pod that has a card already.
void hold(Lab& lab, std::string_view name, int minor, std::string_view node = "n1") {
  lab.pod(devicePod(
      name, cards(1),
      quoted(
          api::annotation::kDeviceAllocated,
          fmt::format(
              R"({{"gpu":[{{"minor":{},"resources":{{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory":"80Gi","koordinator.sh/gpu-memory-ratio":"100"}}}}]}})",
              minor)),
      fmt::format(R"("nodeName":"{}",)", node)));
}

struct Case {
  int number;
  std::vector<int> used;
  Asked asked;
  std::string notes;
  std::string got;   // devicesOf, or
  std::string said;  // part of the reason
};

TEST(DeviceShare, chooses_cards_nics_and_functions) {
  const std::string functions = joint() + "," + kFunctions;
  const auto scope = [](std::string_view word) {
    return hint(fmt::format(R"({{"gpu":{{"requiredTopologyScope":"{}"}}}})", word));
  };
  const Case cases[] = {
      {74, {}, withNic(1), functions, "gpu 0; rdma 1(0000:1f:00.2)", ""},
      {74, {}, withNic(2), joint(), "gpu 0 1; rdma 1", ""},
      {74, {}, withNic(3), joint(), "gpu 0 1 2; rdma 1 2", ""},
      {74, {}, withNic(6), joint(), "gpu 0 1 2 3 4 5; rdma 1 2 3", ""},
      {74, {}, withNic(8), joint(), "gpu 0 1 2 3 4 5 6 7; rdma 1 2 3 4", ""},
      {75, {0}, withNic(2), joint(), "gpu 2 3; rdma 2", ""},
      {75, {0}, withNic(3), joint(), "gpu 1 2 3; rdma 1 2", ""},
      {76, {5}, withNic(1), functions, "gpu 4; rdma 3(0000:5f:00.2)", ""},
      {76, {5}, cards(2), "", "gpu 6 7", ""},
      {76, {5}, cards(2), scope("PCIe"), "gpu 6 7", ""},
      {76, {5}, cards(4), scope("NUMANode"), "gpu 0 1 2 3", ""},
      {76, {0, 5}, cards(4), scope("NUMANode"), "", "Insufficient Topology Scoped GPU Devices"},
      {78, {}, {{"koordinator.sh/gpu-core", "101"}}, "", "", "koordinator.sh/gpu-core"},
      {78, {}, percent(101), "", "", "want at most 100 or a multiple of 100"},
      {78, {}, {{"koordinator.sh/rdma", "201"}}, "", "", "want at most 100 or a multiple of 100"},
      {78, {}, {{"koordinator.sh/rdma", "50"}}, "", "rdma 1", ""},
      {80,
       {},
       {{"koordinator.sh/rdma", "4"}},
       hint(R"({"rdma":{"allocateStrategy":"RequestsAsCount"}})"),
       "rdma 1 2 3 4",
       ""},
      {80,
       {},
       {{"koordinator.sh/rdma", "4"}},
       hint(
           R"({"rdma":{"allocateStrategy":"ApplyForAll","selector":{"matchLabels":{"type":"no"}}}})"),
       "",
       "Insufficient rdma devices"},
      {0,
       {},
       cards(1),
       hint(R"({"gpu":{"requiredTopologyScope":"Rack"}})"),
       "",
       "requiredTopologyScope is 'Rack'"},
  };
  for (const Case& c : cases) {
    Lab lab;
    putBox(lab, "n1");
    for (int minor : c.used) hold(lab, fmt::format("used{}", minor), minor);
    lab.pod(devicePod("p", c.asked, c.notes));
    lab.run();
    EXPECT_EQ(devicesOf(lab, "p"), c.got) << "case " << c.number << " " << lab.said("p");
    EXPECT_THAT(lab.said("p"), HasSubstr(c.said)) << "case " << c.number;
  }
}

TEST(DeviceShare, takes_partitions_of_known_boxes) {  // case 77
  const std::string model =
      R"({"node.koordinator.sh/gpu-model":"H800","node.koordinator.sh/gpu-partition-policy":"Honor"})";
  const auto ask = [&](std::vector<int> used, int count) {
    Lab lab;
    putBox(lab, "n1", {.labels = model});
    for (int minor : used) hold(lab, fmt::format("used{}", minor), minor);
    lab.pod(devicePod("p", cards(count)));
    lab.run();
    return devicesOf(lab, "p") + lab.said("p");
  };
  EXPECT_THAT(ask({}, 3), HasSubstr("Unsupported number of GPU requests"));
  EXPECT_THAT(ask({}, 6), HasSubstr("Unsupported number of GPU requests"));
  EXPECT_EQ(ask({4}, 2), "gpu 6 7");
  EXPECT_EQ(ask({4}, 1), "gpu 5");
  EXPECT_EQ(ask({2, 3}, 2), "gpu 0 1");
}

TEST(DeviceShare, prefers_the_partition_of_the_higher_score) {  // case 82
  const auto table = quoted(
      api::annotation::kGpuPartitions,
      R"({"2":[{"minors":[0,1],"allocationScore":1},{"minors":[2,3],"allocationScore":5}]})");
  const auto ask = [&](std::vector<int> used, std::string_view policy) {
    Lab lab;
    putBox(lab, "n1", {.notes = "{" + table + "}"});
    for (int minor : used) hold(lab, fmt::format("used{}", minor), minor);
    lab.pod(devicePod("p", cards(2),
                      quoted(api::annotation::kGpuPartitionSpec,
                             fmt::format(R"({{"allocatePolicy":"{}"}})", policy))));
    lab.run();
    return devicesOf(lab, "p") + lab.said("p");
  };
  EXPECT_EQ(ask({}, "BestEffort"), "gpu 2 3");
  EXPECT_EQ(ask({2}, "BestEffort"), "gpu 0 1");
  EXPECT_THAT(ask({2}, "Restricted"), HasSubstr("Insufficient Partitioned GPU Devices"));
}

TEST(DeviceShare, fills_in_memory_and_percent) {  // case 79
  Lab lab;
  putBox(lab, "n1");
  lab.pod(devicePod("half", percent(50)));
  lab.run();
  EXPECT_EQ(
      lab.annotation("half", api::annotation::kDeviceAllocated),
      R"({"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"50","koordinator.sh/gpu-memory":"40Gi","koordinator.sh/gpu-memory-ratio":"50"},"id":"GPU-0"}]})");
  lab.pod(devicePod("bytes", {{"koordinator.sh/gpu-memory", "20Gi"}}));
  lab.run();
  EXPECT_THAT(lab.annotation("bytes", api::annotation::kDeviceAllocated),
              HasSubstr(R"("koordinator.sh/gpu-memory-ratio":"25")"));
}

TEST(DeviceShare, couples_nics_and_cards) {  // case 81
  Lab one;
  putBox(one, "n1", {.nics = 1});
  one.pod(devicePod("same", withNic(4), joint("SamePCIe")));
  one.run();
  EXPECT_THAT(one.said("same"), HasSubstr("Insufficient rdma devices"));
  one.pod(devicePod("any", withNic(4), joint()));
  one.run();
  EXPECT_EQ(devicesOf(one, "any"), "gpu 0 1 2 3; rdma 1");
  Lab other;
  putBox(other, "n1", {.gpus = 8, .nics = 2});  // NICs of the first two switches
  for (int minor : {0, 1, 2, 3}) hold(other, fmt::format("used{}", minor), minor);
  other.pod(devicePod("far", withNic(2), joint("SamePCIe")));
  other.run();
  EXPECT_THAT(other.said("far"), HasSubstr("Device Joint-Allocate rules violation"));
}

TEST(DeviceShare, keeps_isolated_shares_to_nodes_that_isolate) {  // case 83
  Lab lab;
  putBox(lab, "plain");
  putBox(lab, "hami", {.labels = R"({"koordinator.sh/gpu-isolation-provider":"HAMi-core"})"});
  const std::string label = R"("koordinator.sh/gpu-isolation-provider":"HAMi-core")";
  for (int i = 0; i < 16; i++)
    lab.pod(devicePod(fmt::format("p{}", i), percent(50), "", "", label));
  lab.run();
  for (int i = 0; i < 16; i++) EXPECT_EQ(lab.nodeOf(fmt::format("p{}", i)), "hami") << i;
  lab.pod(devicePod("late", percent(50), "", "", label));
  lab.run();
  EXPECT_EQ(lab.nodeOf("late"), "");
  EXPECT_THAT(lab.said("late"), HasSubstr("1 node(s) GPU isolation provider is not HAMi-core"));
}

TEST(DeviceShare, remembers_what_is_held_while_the_report_is_away) {  // case 84
  Lab lab;
  putBox(lab, "n1");
  lab.pod(devicePod("first", cards(1)));
  lab.run();
  ASSERT_EQ(devicesOf(lab, "first"), "gpu 0");
  putDevice(lab, "n1", nullptr);
  lab.pod(devicePod("second", percent(100)));
  lab.run();
  EXPECT_EQ(lab.nodeOf("second"), "");
  putDevice(lab, "n1", boxOf("n1"));
  lab.wait(std::chrono::seconds(3));
  EXPECT_EQ(devicesOf(lab, "second"), "gpu 1");
}

TEST(DeviceShare, gives_no_unhealthy_card_and_names_the_pods_of_one) {
  Lab lab;
  putBox(lab, "n1", {.ill = {0}});
  lab.pod(devicePod("a", cards(1)));
  lab.run();
  ASSERT_EQ(devicesOf(lab, "a"), "gpu 1");
  lab.takeLog();
  putDevice(lab, "n1", boxOf("n1", {.ill = {0, 1}}));
  EXPECT_THAT(lab.takeLog(),
              testing::ElementsAre("a device: gpu 1 of node n1 is reported unhealthy"));
  putDevice(lab, "n1", boxOf("n1", {.ill = {0, 1}}));
  EXPECT_TRUE(lab.takeLog().empty());  // said once
  lab.pod(devicePod("b", cards(6)));
  lab.pod(devicePod("c", cards(1)));
  lab.run();
  EXPECT_EQ(devicesOf(lab, "b"), "gpu 2 3 4 5 6 7");
  EXPECT_EQ(lab.nodeOf("c"), "");
}

TEST(DeviceShare, keeps_a_vanished_card_in_its_books) {
  Lab lab;
  putBox(lab, "n1", {.gpus = 2});
  lab.pod(devicePod("a", cards(2)));
  lab.run();
  ASSERT_EQ(devicesOf(lab, "a"), "gpu 0 1");
  lab.takeLog();
  putDevice(lab, "n1", boxOf("n1", {.gpus = 1}));
  EXPECT_THAT(lab.takeLog(),
              testing::ElementsAre("a device: gpu 1 of node n1 is no longer reported"));
  putDevice(lab, "n1", boxOf("n1", {.gpus = 2}));
  lab.pod(devicePod("b", percent(50)));
  lab.run();
  EXPECT_EQ(lab.nodeOf("b"), "");
  lab.removePod("a");
  lab.wait(std::chrono::seconds(3));
  EXPECT_EQ(devicesOf(lab, "b"), "gpu 0");
}

TEST(DeviceShare, refuses_nodes_that_report_no_cards_unless_a_vendor_sells_them) {
  Lab lab;
  lab.node(R"({"metadata":{"name":"bare"},"status":{"allocatable":{"cpu":"8","memory":"8Gi",
      "koordinator.sh/gpu":"100","nvidia.com/gpu":"1"}}})");
  lab.pod(devicePod("ours", percent(50)));
  lab.run();
  EXPECT_THAT(lab.said("ours"), HasSubstr("1 node(s) no devices reported"));
  lab.pod(devicePod("vendors", cards(1)));
  lab.run();
  EXPECT_EQ(lab.nodeOf("vendors"), "bare");
  EXPECT_EQ(devicesOf(lab, "vendors"), "");
}

TEST(DeviceShare, reads_the_books_from_annotations_on_start) {
  Lab before;
  putBox(before, "n1");
  for (int i = 0; i < 5; i++) before.pod(devicePod(fmt::format("p{}", i), percent(50 + i)));
  before.run();
  Lab after;  // pods first, then the node, then its cards: whatever comes first
  for (int i = 0; i < 5; i++) {
    const auto text = before.annotation(fmt::format("p{}", i), api::annotation::kDeviceAllocated);
    ASSERT_NE(text, "");
    after.pod(devicePod(fmt::format("p{}", i), percent(50 + i),
                        quoted(api::annotation::kDeviceAllocated, text), R"("nodeName":"n1",)"));
  }
  putBox(after, "n1");
  for (Lab* lab : {&before, &after}) {
    lab->pod(devicePod("next", percent(50)));
    lab->pod(devicePod("pair", cards(2)));
    lab->run();
  }
  EXPECT_EQ(devicesOf(after, "next"), devicesOf(before, "next"));
  EXPECT_EQ(devicesOf(after, "pair"), devicesOf(before, "pair"));
  EXPECT_NE(devicesOf(after, "pair"), "");
}

TEST(DeviceShare, gives_cards_back_when_the_binding_fails) {
  Lab lab;
  putBox(lab, "n1", {.gpus = 1});
  lab.refuseBindings = true;
  lab.pod(devicePod("a", cards(1)));
  lab.run();
  EXPECT_EQ(DeviceBooks::of(lab.cluster()).find(0)->holdings().size(), 0u);
  EXPECT_FALSE(DeviceBooks::of(lab.cluster()).find(0)->devices().byType.at("gpu")[0].inUse());
}

TEST(DeviceShare, profiles_share_one_truth) {
  Lab lab;
  putBox(lab, "n1", {.gpus = 2});
  lab.pod(devicePod("a", cards(1)));
  lab.pod(devicePod("b", cards(1), "", R"("schedulerName":"koord-scheduler",)"));
  while (lab.engine().scheduleOne()) {
  }  // nothing is confirmed yet
  const DeviceBook& book = *DeviceBooks::of(lab.cluster()).find(0);
  EXPECT_EQ(book.holdings().size(), 2u);
  EXPECT_TRUE(book.quarrels().empty());
  lab.run();
  EXPECT_NE(devicesOf(lab, "a"), devicesOf(lab, "b"));
}

TEST(DeviceShare, shows_when_two_schedulers_disagree) {
  Lab lab;
  putBox(lab, "n1");
  lab.pod(devicePod("ours", cards(1)));
  lab.run();
  lab.takeLog();
  hold(lab, "theirs", 0);
  const std::string what =
      "gpu 0 of node n1 is given to default/ours and default/theirs: more than there is of "
      "koordinator.sh/gpu-core";
  EXPECT_THAT(lab.takeLog(),
              testing::UnorderedElementsAre("ours device: " + what, "theirs device: " + what));
  EXPECT_EQ(DeviceBooks::of(lab.cluster()).quarrels(), 1u);
  const auto page =
      lab.engine().profiles()[0]->find("DeviceShare")->serve("nodeDeviceSummaries/n1");
  ASSERT_TRUE(page);
  EXPECT_THAT(json::write(*page), HasSubstr(R"("holders":["default/ours","default/theirs"])"));
  lab.removePod("theirs");
  EXPECT_EQ(DeviceBooks::of(lab.cluster()).quarrels(), 0u);
}

TEST(DeviceShare, believes_the_server_when_somebody_else_moved_the_pod) {
  Lab lab;
  putBox(lab, "n1");
  lab.pod(devicePod("a", cards(1)));
  lab.run();
  ASSERT_EQ(devicesOf(lab, "a"), "gpu 0");
  hold(lab, "a", 3);
  EXPECT_FALSE(DeviceBooks::of(lab.cluster()).find(0)->devices().byType.at("gpu")[0].inUse());
  EXPECT_TRUE(DeviceBooks::of(lab.cluster()).find(0)->devices().byType.at("gpu")[3].inUse());
}

TEST(DeviceShare, takes_what_a_hint_designates_or_nothing) {
  const std::string named = quoted(
      api::annotation::kDeviceAllocated,
      R"({"gpu":[{"minor":6,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory":"80Gi","koordinator.sh/gpu-memory-ratio":"100"}}]})");
  const std::string says =
      named + "," +
      quoted(api::annotation::kSchedulingHint, R"({"extensions":{"DeviceShare":{}}})");
  Lab lab;
  putBox(lab, "n1");
  lab.pod(devicePod("a", cards(1), says));
  lab.run();
  EXPECT_EQ(lab.nodeOf("a"), "n1");
  EXPECT_EQ(devicesOf(lab, "a"), "gpu 6");
  EXPECT_TRUE(DeviceBooks::of(lab.cluster()).find(0)->devices().byType.at("gpu")[6].inUse());
  EXPECT_FALSE(DeviceBooks::of(lab.cluster()).find(0)->devices().byType.at("gpu")[0].inUse());
  lab.pod(devicePod("b", cards(1), says));
  lab.run();
  EXPECT_THAT(lab.said("b"), HasSubstr("designated gpu 6 is not free"));
}

TEST(DeviceShare, packs_or_spreads_as_told) {
  const auto nodesOf = [](std::string_view type) {
    auto config = defaultConfig({"default-scheduler"});
    config.profiles[0].args["DeviceShare"] =
        json::Object{{"scoringStrategy", json::Object{{"type", type}}}};
    Lab lab(config);
    putBox(lab, "n1");
    putBox(lab, "n2");
    hold(lab, "used", 0, "n1");
    lab.pod(devicePod("p", percent(50)));
    lab.run();
    return lab.nodeOf("p");
  };
  EXPECT_EQ(nodesOf("LeastAllocated"), "n2");
  auto config = defaultConfig({"default-scheduler"});
  EXPECT_FALSE(
      readDeviceShareArgs(json::Object{{"scoringStrategy", json::Object{{"type", "Tightest"}}}}));
  EXPECT_FALSE(readDeviceShareArgs(json::Object{{"scoringStrategie", 1}}));
}

TEST(DeviceShare, explains_card_by_card) {
  Lab lab;
  putBox(lab, "n1", {.ill = {7}});
  for (int minor : {0, 2}) hold(lab, fmt::format("used{}", minor), minor);
  lab.pod(devicePod("p", cards(4), hint(R"({"gpu":{"requiredTopologyScope":"PCIe"}})")));
  lab.run();
  const auto info = lab.cluster().makeInfo(lab.find("p"));
  Profile& profile = *lab.engine().profiles()[0];
  EXPECT_EQ(profile.find("DeviceShare")->detail(profile.compiled(info->cls).plan(), 0),
            "gpu: needs 4 with gpu-core=100, gpu-memory-ratio=100 each on one switch; 5 of 8 have "
            "room, at most 2 of them on one switch; 1 unhealthy");
}

}  // namespace
}  // namespace mangrove::placement
