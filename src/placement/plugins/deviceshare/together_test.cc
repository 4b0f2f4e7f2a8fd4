// Cards together with the rest: NUMA nodes, gangs, preemption, transactions, reservations.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include "api/wire/decode.h"
#include "api/wire/names.h"
#include "placement/cycle/transaction.h"
#include "placement/plugins/deviceshare/device_share.h"
#include "placement/testing/device_box.h"

namespace mangrove::placement {
namespace {

using testing::HasSubstr;

// Two NUMA nodes with 64 CPUs and 512 Gi each.
void putZones(Lab& lab, std::string_view name) {
  std::string zones;
  for (int node = 0; node < 2; node++)
    zones += fmt::format(
        R"({}{{"name":"node-{}","type":"Node","resources":[
            {{"name":"cpu","allocatable":"64"}},{{"name":"memory","allocatable":"512Gi"}}]}})",
        node ? "," : "", node);
  auto topology = api::decodeText<api::NodeResourceTopology>(
      fmt::format(R"({{"metadata":{{"name":"{}"}},"zones":[{}]}})", name, zones));
  ASSERT_TRUE(topology);
  lab.cluster().putTopology(name, std::make_shared<api::NodeResourceTopology>(*topology));
}

std::string policyLabel(std::string_view policy) {
  return fmt::format(R"({{"node.koordinator.sh/numa-topology-policy":"{}"}})", policy);
}

std::string withCpu(std::string_view name, int gpus, int cpu, std::string_view more = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"{}"}},"spec":{{{}"containers":[{{"name":"c","resources":{{"requests":
          {{"cpu":"{}","memory":"4Gi","nvidia.com/gpu":"{}"}}}}}}]}}}})",
      name, more, cpu, gpus);
}

std::string zonesOf(const Lab& lab, std::string_view pod) {
  const std::string text = lab.annotation(pod, api::annotation::kResourceStatus);
  std::string out;
  for (int node : {0, 1})
    if (text.find(fmt::format(R"("node":{})", node)) != std::string::npos)
      out += std::to_string(node);
  return out;
}

const DeviceBook& bookOf(Lab& lab, Row row = 0) {
  return *DeviceBooks::of(lab.cluster()).find(row);
}

TEST(DevicesAndNuma, meet_on_one_numa_node) {
  for (auto policy : {"SingleNUMANode", "Restricted", "BestEffort"}) {
    Lab lab;
    putBox(lab, "n1", {.labels = policyLabel(policy)});
    putZones(lab, "n1");
    lab.pod(withCpu("first", 3, 4));   // cards 0 1 2, NUMA node 0
    lab.pod(withCpu("second", 2, 4));  // one card left there: both on the other side
    lab.run();
    EXPECT_EQ(devicesOf(lab, "first"), "gpu 0 1 2") << policy << lab.said("first");
    EXPECT_EQ(zonesOf(lab, "first"), "0") << policy;
    EXPECT_EQ(devicesOf(lab, "second"), "gpu 4 5") << policy << lab.said("second");
    EXPECT_EQ(zonesOf(lab, "second"), "1") << policy;
  }
}

// CPUs are left on NUMA node 1 only; the cards follow them although those of node 0 come first.
TEST(DevicesAndNuma, cards_follow_cpus) {
  Lab lab;
  putBox(lab, "n1", {.labels = policyLabel("SingleNUMANode")});
  putZones(lab, "n1");
  lab.pod(withCpu("hog", 0, 62));
  lab.run();
  ASSERT_EQ(zonesOf(lab, "hog"), "0");
  lab.pod(withCpu("p", 2, 8));
  lab.run();
  EXPECT_EQ(zonesOf(lab, "p"), "1");
  EXPECT_EQ(devicesOf(lab, "p"), "gpu 4 5");
}

TEST(DevicesAndNuma, refuse_where_a_policy_cannot_be_met) {
  Lab lab;
  putBox(lab, "n1", {.labels = policyLabel("SingleNUMANode")});
  putZones(lab, "n1");
  lab.pod(withCpu("six", 6, 4));
  lab.run();
  EXPECT_EQ(lab.nodeOf("six"), "");
  EXPECT_THAT(lab.said("six"), HasSubstr("gpu prefer [11] among [11]"));
  auto config = defaultConfig({"default-scheduler"});
  config.profiles[0].args["DeviceShare"] =
      json::Object{{"disableDeviceNUMATopologyAlignment", true}};
  Lab loose(config);
  putBox(loose, "n1", {.labels = policyLabel("SingleNUMANode")});
  putZones(loose, "n1");
  loose.pod(withCpu("six", 6, 4));
  loose.run();
  EXPECT_EQ(devicesOf(loose, "six"), "gpu 0 1 2 3 4 5");
}

TEST(DevicesAndPreemption, victims_free_their_cards) {
  Lab lab;
  putBox(lab, "n1", {.gpus = 4});
  for (int i = 0; i < 4; i++)
    lab.pod(devicePod(fmt::format("low{}", i), cards(1), "", R"("priority":1,)"));
  lab.run();
  ASSERT_EQ(devicesOf(lab, "low3"), "gpu 3");
  lab.takeLog();
  // Two on one switch: the two victims are those that share one.
  lab.pod(devicePod(
      "high", cards(2),
      R"("scheduling.koordinator.sh/device-allocate-hint":"{\"gpu\":{\"requiredTopologyScope\":\"PCIe\"}}")",
      R"("priority":100,)"));
  lab.run();
  lab.wait(std::chrono::seconds(3));
  EXPECT_THAT(devicesOf(lab, "high"), testing::AnyOf("gpu 0 1", "gpu 2 3")) << lab.said("high");
  int left = 0;
  for (int i = 0; i < 4; i++) left += lab.find(fmt::format("low{}", i)) != nullptr;
  EXPECT_EQ(left, 2);
  EXPECT_TRUE(bookOf(lab).quarrels().empty());
}

TEST(DevicesAndPreemption, trials_leave_no_trace) {
  Lab lab;
  putBox(lab, "n1", {.gpus = 2, .nics = 1});
  for (int i = 0; i < 2; i++)
    lab.pod(devicePod(
        fmt::format("low{}", i), {{"nvidia.com/gpu", "1"}, {"koordinator.sh/rdma", "1"}},
        R"("scheduling.koordinator.sh/device-allocate-hint":"{\"rdma\":{\"vfSelector\":{\"matchLabels\":{\"type\":\"general\"}}}}")",
        R"("priority":1,)"));
  lab.run();
  ASSERT_EQ(devicesOf(lab, "low1"), "gpu 1; rdma 1(0000:1f:00.3)");
  const auto page = [&] {
    return json::write(
        *lab.engine().profiles()[0]->find("DeviceShare")->serve("nodeDeviceSummaries"));
  };
  const std::string before = page();
  // Evicting would not help: it wants more than the box has.
  lab.pod(devicePod(
      "huge", cards(2),
      R"("scheduling.koordinator.sh/device-allocate-hint":"{\"gpu\":{\"requiredTopologyScope\":\"Device\"}}")",
      R"("priority":100,)"));
  lab.run();
  EXPECT_EQ(lab.nodeOf("huge"), "");
  EXPECT_EQ(page(), before);
  lab.pod(devicePod(
      "nic", {{"koordinator.sh/rdma", "1"}},
      R"("scheduling.koordinator.sh/device-allocate-hint":"{\"rdma\":{\"vfSelector\":{\"matchLabels\":{\"type\":\"general\"}}}}")",
      R"("priority":100,)"));
  lab.run();
  lab.wait(std::chrono::seconds(3));
  EXPECT_THAT(devicesOf(lab, "nic"), HasSubstr("rdma 1(")) << lab.said("nic");
}

TEST(DevicesAndTransactions, roll_back_to_the_letter) {
  Lab lab;
  putBox(lab, "n1");
  lab.pod(devicePod("there", percent(50)));
  lab.run();
  const auto page = [&] {
    return json::write(
        *lab.engine().profiles()[0]->find("DeviceShare")->serve("nodeDeviceSummaries"));
  };
  const std::string before = page();
  const uint64_t log = lab.cluster().table.now();
  const auto made = [&](const std::string& name, int count) {
    auto pod = *api::decodeText<api::Pod>(devicePod(name, cards(count)));
    pod.meta.uid = api::Uid(name);
    pod.meta.ns = Interned("default");
    return lab.cluster().makeInfo(std::make_shared<api::Pod>(std::move(pod)));
  };
  Profile& profile = *lab.engine().profiles()[0];
  {
    Transaction trial(lab.cluster());
    EXPECT_FALSE(trial.place(profile, made("a", 4), 0));
    trial.takeAway(lab.cluster().find(lab.find("there")->meta.uid));
    EXPECT_FALSE(trial.place(profile, made("b", 4), 0));
    EXPECT_EQ(bookOf(lab).holdings().size(), 3u);
    const auto refused = trial.place(profile, made("c", 1), 0);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->plugin, "DeviceShare");
  }
  EXPECT_EQ(page(), before);
  EXPECT_EQ(lab.cluster().table.now(), log);
}

TEST(DevicesAndGangs, all_members_get_cards_or_nobody_does) {
  const auto member = [](const std::string& name, int count) {
    return devicePod(
        name, cards(count),
        R"("gang.scheduling.koordinator.sh/name":"g","gang.scheduling.koordinator.sh/min-available":"3")");
  };
  Lab small;
  putBox(small, "n1", {.gpus = 8});
  for (auto name : {"a", "b", "c"}) small.pod(member(name, 3));
  small.run();
  for (auto name : {"a", "b", "c"}) EXPECT_EQ(small.nodeOf(name), "");
  EXPECT_EQ(bookOf(small).holdings().size(), 0u);
  Lab large;
  putBox(large, "n1");
  putBox(large, "n2");
  for (auto name : {"a", "b", "c"}) large.pod(member(name, 4));
  large.run();
  for (auto name : {"a", "b", "c"}) EXPECT_NE(devicesOf(large, name), "") << large.said(name);
  for (Row row : {0, 1}) EXPECT_TRUE(bookOf(large, row).quarrels().empty());
}

TEST(DevicesAndNominations, room_is_kept_for_a_nominated_pod) {
  Lab lab;
  putBox(lab, "n1", {.gpus = 2});
  lab.keepVictims = true;
  for (int i = 0; i < 2; i++)
    lab.pod(devicePod(fmt::format("low{}", i), percent(60), "", R"("priority":1,)"));
  lab.run();
  lab.pod(devicePod("high", cards(1), "", R"("priority":100,)"));
  lab.run();
  // 40 % of the other card is free; the nominated pod takes none of it.
  lab.pod(devicePod("small", percent(40), "", R"("priority":1,)"));
  lab.run();
  EXPECT_EQ(lab.nodeOf("small"), "n1") << lab.said("small");
  lab.pod(devicePod("more", percent(40), "", R"("priority":1,)"));
  lab.run();
  EXPECT_EQ(lab.nodeOf("more"), "");
}

// ---- what reservations can rely on

HeldDevices whole(std::vector<int> minors) {
  HeldDevices out;
  for (int minor : minors)
    out.push_back({"gpu",
                   minor,
                   {{"koordinator.sh/gpu-core", 100},
                    {"koordinator.sh/gpu-memory-ratio", 100},
                    {"koordinator.sh/gpu-memory", int64_t{80} << 30}},
                   {}});
  return out;
}

TEST(DevicesAndReservations, keep_and_hand_over_cards) {
  Lab lab;
  putBox(lab, "n1", {.gpus = 4});
  DeviceBooks& books = DeviceBooks::of(lab.cluster());
  const api::Uid reservation("11111111-0000-4000-8000-000000000001");
  books.at(0).hold(reservation, whole({2, 3}));
  lab.pod(devicePod("stranger", cards(2)));
  lab.run();
  EXPECT_EQ(devicesOf(lab, "stranger"), "gpu 0 1");
  lab.pod(devicePod("owner", cards(1)));
  const api::Uid owner = lab.find("owner")->meta.uid;
  lab.run();
  EXPECT_EQ(lab.nodeOf("owner"), "");  // nobody lends it anything yet
  // What the Reservation plugin does around a cycle.
  const auto info = lab.cluster().makeInfo(lab.find("owner"));
  Profile& profile = *lab.engine().profiles()[0];
  PlanState& state = profile.compiled(info->cls);
  books.lend(0, {reservation, true, true});
  EXPECT_TRUE(state.evaluate(0).fits());
  books.takeBack(0);
  EXPECT_FALSE(state.evaluate(0).fits());
  books.nominate(owner, {reservation, true, true});
  {
    Transaction decision(lab.cluster());
    EXPECT_FALSE(decision.place(profile, info, 0));
    decision.commit();
  }
  EXPECT_EQ(books.find(0)->left(reservation), whole({3}));
  EXPECT_TRUE(books.find(0)->quarrels().empty());
  books.release(0, owner);
  EXPECT_EQ(books.find(0)->left(reservation), whole({2, 3}));
}

// Case 85: its two cards are taken; whoever must use it gets nothing more of a restricted one, and
// a free card of the node beside an aligned one.
TEST(DevicesAndReservations, a_full_one_refuses_or_takes_from_the_node) {
  const auto third = [](const char* policy) {
    Lab lab(defaultConfig({"default-scheduler"}));
    putBox(lab, "n1", {.gpus = 4});
    lab.pod(devicePod("before", cards(2)));  // the reservation gets 2 and 3
    lab.run();
    lab.reservation(fmt::format(
        R"({{"metadata":{{"name":"r"}},"spec":{{"owners":[{{"labelSelector":{{"matchLabels":{{"app":"x"}}}}}}],
            "allocateOnce":false,"allocatePolicy":"{}","template":{{"spec":{{"containers":[
            {{"name":"c","resources":{{"requests":{{"nvidia.com/gpu":"2"}}}}}}]}}}}}}}})",
        policy));
    lab.run();
    lab.removePod("before");
    const std::string must =
        R"("scheduling.koordinator.sh/reservation-affinity":"{\"name\":\"r\"}")";
    for (auto name : {"a", "b", "c"}) {
      lab.pod(devicePod(name, cards(1), must, "", R"("app":"x")"));
      lab.run();
    }
    EXPECT_EQ(devicesOf(lab, "a"), "gpu 2") << lab.said("a");
    EXPECT_EQ(devicesOf(lab, "b"), "gpu 3") << lab.said("b");
    return devicesOf(lab, "c");
  };
  EXPECT_EQ(third("Restricted"), "");
  EXPECT_EQ(third("Aligned"), "gpu 0");
}

TEST(DevicesByTemplate, are_cut_as_the_vendor_can) {
  const auto decide = [](std::string_view templates) {
    Lab lab;
    lab.node(R"({"metadata":{"name":"n1","labels":{"node.koordinator.sh/gpu-vendor":"huawei",
        "node.koordinator.sh/gpu-model":"Ascend-310P3"}},"status":{"allocatable":{"cpu":"8",
        "memory":"8Gi","huawei.com/npu-core":"8","huawei.com/npu-cpu":"8",
        "koordinator.sh/gpu-memory":"24Gi","koordinator.sh/gpu.shared":"10"}}})");
    putDevice(
        lab, "n1",
        std::make_shared<api::Device>(*api::decodeText<api::Device>(
            R"({"metadata":{"name":"n1"},"spec":{"devices":[{"type":"gpu","minor":0,"health":true,
                  "resources":{"huawei.com/npu-core":"8","huawei.com/npu-cpu":"8",
                  "koordinator.sh/gpu-memory":"24Gi"}}]}})")));
    DeviceBooks::of(lab.cluster()).putTemplates(readGpuTemplates(templates).value());
    lab.pod(devicePod("p", {{"koordinator.sh/gpu.shared", "1"},
                            {"huawei.com/npu-core", "1"},
                            {"huawei.com/npu-cpu", "1"},
                            {"koordinator.sh/gpu-memory", "3Gi"}}));
    lab.run();
    return lab.annotation("p", api::annotation::kDeviceAllocated) + lab.said("p");
  };
  const std::string small =
      "{huawei.com/npu-core: 1, huawei.com/npu-cpu: 1, koordinator.sh/gpu-memory: 3Gi}";
  EXPECT_THAT(decide("huawei-Ascend-310P3: {vir01: " + small + "}"),
              HasSubstr(R"("gpuSharedResourceTemplate":"vir01")"));
  EXPECT_THAT(decide("huawei-Ascend-910: {vir01: " + small + "}"),
              HasSubstr("No template of huawei-Ascend-310P3"));
  EXPECT_THAT(decide(""), HasSubstr("no GPU shared resource template"));
  EXPECT_FALSE(readGpuTemplates("a: 1"));
  EXPECT_FALSE(readGpuTemplates("a: {b: {c: x}}"));
}

// Shares go where a card is cut already, so that whole boxes stay whole; the reference's score
// spreads them.
TEST(DevicesByShape, keep_room_for_large_ones) {
  const auto boxesLeft = [](bool keeps) {
    auto config = defaultConfig({"default-scheduler"});
    config.profiles[0].args["DeviceShare"] = json::Object{{"keepShapes", keeps}};
    for (auto& enabled : config.profiles[0].points["score"])
      if (enabled.name == "DeviceShare") enabled.weight = 10;
    Lab lab(config);
    for (int i = 0; i < 6; i++) putBox(lab, fmt::format("n{}", i));
    lab.pod(devicePod("whole", cards(8)));
    lab.run();
    lab.removePod("whole");
    for (int i = 0; i < 24; i++) lab.pod(devicePod(fmt::format("p{}", i), percent(50)));
    lab.run();
    int placed = 0;
    for (int i = 0; i < 6; i++) {
      const std::string name = fmt::format("big{}", i);
      lab.pod(devicePod(name, cards(8)));
      lab.run();
      placed += lab.nodeOf(name) != "";
    }
    return placed;
  };
  EXPECT_EQ(boxesLeft(false), 0);
  EXPECT_GE(boxesLeft(true), 4);
}

TEST(DeviceBook, counts_a_lent_card_once) {
  DeviceBook book;
  ASSERT_TRUE(book.report(boxOf("n1").get(), {}));
  const api::Uid lender("11111111-0000-4000-8000-000000000001");
  const api::Uid pod("11111111-0000-4000-8000-000000000002");
  book.hold(lender, whole({0}));
  HeldDevices half = whole({0});
  half[0].amounts = {{"koordinator.sh/gpu-core", 50}};
  book.hold(pod, half, lender);
  const auto core = [&] {
    return book.devices().byType.at("gpu")[0].used.amount("koordinator.sh/gpu-core");
  };
  EXPECT_EQ(core(), 100);
  book.lend(lender);
  EXPECT_EQ(core(), 50);
  book.takeBack(lender);
  EXPECT_EQ(core(), 100);
  book.suspend(pod);
  EXPECT_EQ(core(), 100);  // the reservation keeps what its owner gives back
  book.resume(pod);
  book.release(lender);
  EXPECT_EQ(core(), 50);
  book.release(pod);
  EXPECT_EQ(core(), 0);
}

}  // namespace
}  // namespace mangrove::placement
