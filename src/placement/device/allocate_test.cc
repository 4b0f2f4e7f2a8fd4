// Boxes of eight cards in pairs on four switches, one NIC on each: which cards, NICs and functions
// a pod gets, and what it is told when it gets none.
#include "placement/device/allocate.h"

#include <gmock/gmock.h>

#include "api/wire/names.h"

namespace mangrove::placement {
namespace {

using testing::HasSubstr;

constexpr int64_t kGi = int64_t{1} << 30;
constexpr const char* kJoint = R"({"deviceTypes":["gpu","rdma"]})";
constexpr const char* kSamePcie = R"({"deviceTypes":["gpu","rdma"],"requiredScope":"SamePCIe"})";
constexpr const char* kFunctions = R"({"rdma":{"vfSelector":{"matchLabels":{"type":"general"}}}})";

api::DeviceInfo gpu(int minor) {
  api::DeviceInfo out;
  out.type = Interned("gpu");
  out.minor = minor;
  out.id = fmt::format("GPU-{}", minor);
  out.health = true;
  out.resources = {{"koordinator.sh/gpu-core", "100"},
                   {"koordinator.sh/gpu-memory", "80Gi"},
                   {"koordinator.sh/gpu-memory-ratio", "100"}};
  out.topology = api::DeviceTopology{-1, minor / 4, std::to_string(minor / 2), ""};
  return out;
}

api::DeviceInfo nic(int minor) {
  api::DeviceInfo out;
  out.type = Interned("rdma");
  out.minor = minor;
  out.health = true;
  out.labels = {{"type", minor == 4 ? "other" : "fakeW"}};
  out.resources = {{"koordinator.sh/rdma", "100"}};
  out.topology = api::DeviceTopology{-1, (minor - 1) / 2, std::to_string(minor - 1), ""};
  api::VirtualFunctionGroup group{{{"type", "general"}}, {}};
  for (int i = 3; i >= 2; --i) group.vfs.push_back({i, fmt::format("0000:{}f:00.{}", minor, i)});
  out.vfGroups.push_back(group);
  return out;
}

struct Box {
  Box() {
    for (int i = 0; i < 8; ++i) device.spec.devices.push_back(gpu(i));
    for (int i = 1; i <= 4; ++i) device.spec.devices.push_back(nic(i));
  }
  Box& use(int minor, const char* percent = "100") {
    held.push_back({{"gpu", {{minor, {{"koordinator.sh/gpu-core", percent}}, "", {}}}}});
    return *this;
  }
  Box& useFunction(int nicMinor, const std::string& busId) {
    api::DeviceAllocation one;
    one.minor = nicMinor;
    one.resources = {{"koordinator.sh/rdma", "1"}};
    one.extension.emplace().vfs.push_back({0, busId});
    held.push_back({{"rdma", {one}}});
    return *this;
  }
  Box& model(const char* name, bool honor = true) {
    labels.set(api::label::kGpuModel, name);
    if (honor) labels.set(api::label::kGpuPartitionPolicy, "Honor");
    return *this;
  }
  Box& hint(std::string_view text) { return note(api::annotation::kDeviceAllocateHint, text); }
  Box& joint(std::string_view text) { return note(api::annotation::kDeviceJointAllocate, text); }
  Box& note(std::string_view key, std::string_view text) {
    pod.set(key, text);
    return *this;
  }

  // "gpu 0 1; rdma 1(0000:1f:00.2)", or the reason.
  std::string ask(const Amounts& total) {
    const auto wish = deviceWish(total, pod);
    if (!wish) return wish.error().text();
    node = nodeDevices(device, labels, held).value();
    const AllocatedDevices got = allocateDevices(node, *wish, terms);
    if (!got) return (got.error().unresolvable ? "never: " : "") + got.error().reason;
    annotation = annotationOf(*got);
    std::string out;
    for (const auto& [type, list] : annotation) {
      out += (out.empty() ? "" : "; ") + type;
      for (const auto& one : list) {
        out += fmt::format(" {}", one.minor);
        if (one.extension && !one.extension->vfs.empty())
          out += fmt::format("({})", one.extension->vfs.front().busId);
      }
    }
    return out;
  }
  std::string askGpus(int64_t count) { return ask({{"nvidia.com/gpu", count}}); }
  std::string askWithNic(int64_t count) {
    return ask({{"nvidia.com/gpu", count}, {"koordinator.sh/rdma", 1}});
  }

  api::Device device;
  api::Labels labels;
  api::Annotations pod;
  std::vector<api::DeviceAllocations> held;
  AllocationTerms terms;
  NodeDevices node;
  api::DeviceAllocations annotation;
};

TEST(AllocateDevices, TakesOneNicPerSwitchOfItsCards) {
  const std::pair<int, const char*> kCases[] = {
      {1, "gpu 0; rdma 1(0000:1f:00.2)"},
      {2, "gpu 0 1; rdma 1(0000:1f:00.2)"},
      {3, "gpu 0 1 2; rdma 1(0000:1f:00.2) 2(0000:2f:00.2)"},
      {6, "gpu 0 1 2 3 4 5; rdma 1(0000:1f:00.2) 2(0000:2f:00.2) 3(0000:3f:00.2)"},
  };
  for (const auto& [count, want] : kCases)
    EXPECT_EQ(Box().hint(kFunctions).joint(kSamePcie).askWithNic(count), want);
}

// 79 pods with a gigabyte of eighty each have 79 % by their own account, since a share of bytes is
// rounded down: 21 % more would be 17 gigabytes of the one that is left.
TEST(AllocateDevices, CountsBytesAndPercentAsOneMemory) {
  Box box;
  for (int minor = 0; minor < 8; ++minor)
    box.held.push_back(
        {{"gpu",
          {{minor,
            {{"koordinator.sh/gpu-memory", "79Gi"}, {"koordinator.sh/gpu-memory-ratio", "79"}},
            "",
            {}}}}});
  EXPECT_EQ(box.ask({{"koordinator.sh/gpu-memory-ratio", 21}}), "Insufficient GPU Devices");
  EXPECT_EQ(box.ask({{"koordinator.sh/gpu-memory-ratio", 1}}), "gpu 0");
  EXPECT_EQ(box.ask({{"koordinator.sh/gpu-memory", kGi}}), "gpu 0");
}

TEST(AllocateDevices, PassesOverFunctionsInUse) {
  Box box;
  box.use(0).useFunction(1, "0000:1f:00.2").hint(kFunctions).joint(kJoint);
  EXPECT_EQ(box.askWithNic(2), "gpu 2 3; rdma 2(0000:2f:00.2)");
  EXPECT_EQ(box.askWithNic(3), "gpu 1 2 3; rdma 1(0000:1f:00.3) 2(0000:2f:00.2)");
}

TEST(AllocateDevices, FillsBrokenSwitchesAndKeepsPairsWhole) {
  EXPECT_EQ(Box().use(5).askGpus(1), "gpu 4");
  EXPECT_EQ(Box().use(5).askGpus(2), "gpu 6 7");
  EXPECT_EQ(Box().use(5).hint(R"({"gpu":{"requiredTopologyScope":"NUMANode"}})").askGpus(4),
            "gpu 0 1 2 3");
  Box split;
  split.use(0).use(5).hint(R"({"gpu":{"requiredTopologyScope":"NUMANode"}})");
  EXPECT_EQ(split.askGpus(4), "Insufficient Topology Scoped GPU Devices");
  EXPECT_EQ(Box().hint(R"({"gpu":{"requiredTopologyScope":"Device"}})").askGpus(2),
            "Insufficient Topology Scoped GPU Devices");
  EXPECT_EQ(Box().hint(R"({"gpu":{"requiredTopologyScope":"Device"}})").askGpus(1), "gpu 0");
}

TEST(AllocateDevices, HonoursTheTableOfTheBox) {
  EXPECT_EQ(Box().model("H800").askGpus(3), "never: node(s) Unsupported number of GPU requests");
  EXPECT_EQ(Box().model("H800", false).askGpus(3), "gpu 0 1 2");
  EXPECT_EQ(Box().model("H800").use(4).askGpus(2), "gpu 6 7");
  EXPECT_EQ(Box().model("H800").use(4).askGpus(1), "gpu 5");
  EXPECT_EQ(Box().model("H800").use(2).use(3).askGpus(2), "gpu 0 1");
  EXPECT_EQ(Box().model("H800").use(1).use(6).askGpus(4), "Insufficient Partitioned GPU Devices");
}

TEST(AllocateDevices, TakesThePartitionOfTheHighestScore) {
  const char* table = R"({"2":[{"minors":[0,1],"allocationScore":1},
                               {"minors":[2,3],"allocationScore":5}]})";
  Box box;
  box.device.meta.annotations.set(api::annotation::kGpuPartitions, table);
  EXPECT_EQ(box.askGpus(2), "gpu 2 3");
  box.use(2);
  EXPECT_EQ(box.askGpus(2), "gpu 0 1");
  box.note(api::annotation::kGpuPartitionSpec, R"({"allocatePolicy":"Restricted"})");
  EXPECT_EQ(box.askGpus(2), "Insufficient Partitioned GPU Devices");
}

TEST(AllocateDevices, FillsInWhatTheShareDoesNotSay) {
  const DeviceNames& names = deviceNames();
  Box box;
  box.ask({{names.ratio.view(), 50}});
  EXPECT_EQ(box.annotation["gpu"][0].resources.amount(names.memory.view()).value(), 40 * kGi);
  EXPECT_EQ(box.annotation["gpu"][0].id, "GPU-0");
  box.ask({{names.memory.view(), 20 * kGi}});
  EXPECT_EQ(box.annotation["gpu"][0].resources.amount(names.ratio.view()).value(), 25);
  box.ask({{names.memory.view(), kGi}});
  EXPECT_EQ(box.annotation["gpu"][0].resources.amount(names.ratio.view()).value(), 1);
}

TEST(AllocateDevices, CountsNics) {
  const Amounts four{{"koordinator.sh/rdma", 4}};
  EXPECT_EQ(Box().hint(R"({"rdma":{"allocateStrategy":"RequestsAsCount"}})").ask(four),
            "rdma 1 2 3 4");
  Box whole;
  whole.hint(R"({"rdma":{"allocateStrategy":"RequestsAsCount","exclusivePolicy":"DeviceLevel"}})");
  EXPECT_EQ(whole.ask(four), "rdma 1 2 3 4");
  EXPECT_EQ(whole.annotation["rdma"][0].resources.amount("koordinator.sh/rdma").value(), 100);
  const auto forAll = [](const char* type) {
    return fmt::format(
        R"({{"rdma":{{"allocateStrategy":"ApplyForAll","selector":{{"matchLabels":{{"type":"{}"}}}}}}}})",
        type);
  };
  EXPECT_EQ(Box().hint(forAll("fakeW")).ask(four), "rdma 1 2 3");
  EXPECT_EQ(Box().hint(forAll("none")).ask(four), "Insufficient rdma devices");
  EXPECT_EQ(Box().ask({{"koordinator.sh/rdma", 200}}), "rdma 1 2");
  EXPECT_EQ(Box().ask({{"koordinator.sh/fpga", 1}}), "never: Insufficient fpga devices");
}

TEST(AllocateDevices, JoinsTypesAsFarAsTheNicsReach) {
  Box one;
  one.device.spec.devices.resize(9);  // the NIC of the first switch alone
  EXPECT_EQ(one.joint(kSamePcie).askWithNic(4), "Insufficient rdma devices");
  EXPECT_EQ(one.joint(kJoint).askWithNic(4), "gpu 0 1 2 3; rdma 1");
  Box elsewhere;
  elsewhere.device.spec.devices.erase(elsewhere.device.spec.devices.begin() + 8);
  EXPECT_EQ(elsewhere.joint(kSamePcie).askWithNic(2), "Device Joint-Allocate rules violation");
}

TEST(AllocateDevices, KeepsToTheNumaNodesGiven) {
  Box box;
  box.terms.numaNodes = {1};
  EXPECT_EQ(box.askGpus(2), "gpu 4 5");
  EXPECT_EQ(box.askGpus(5), "Insufficient GPU Devices");
}

TEST(AllocateDevices, LeavesASwitchInUseWhenItsOwnIsWanted) {
  Box box;
  box.useFunction(1, "0000:1f:00.2").hint(R"({"rdma":{"exclusivePolicy":"PCIeLevel"}})");
  EXPECT_EQ(box.ask({{"koordinator.sh/rdma", 1}}), "rdma 2");
}

TEST(AllocateDevices, OrdersSharesByTheirScore) {
  Box box;
  for (auto& info : box.device.spec.devices) info.topology.reset();
  box.held.push_back({{"gpu", {{1, {{"koordinator.sh/gpu-memory-ratio", "50"}}, "", {}}}}});
  const Amounts quarter{{"koordinator.sh/gpu-memory-ratio", 25}};
  box.terms.order = CardOrder::kMostAllocated;
  EXPECT_EQ(box.ask(quarter), "gpu 1");
  box.terms.order = CardOrder::kLeastAllocated;
  EXPECT_EQ(box.ask(quarter), "gpu 0");
}

TEST(AllocateDevices, GivesNothingOfUnhealthyOrVanishedCards) {
  Box box;
  box.device.spec.devices[0].health = false;
  box.use(9);  // no longer reported
  EXPECT_EQ(box.askGpus(1), "gpu 1");
  EXPECT_EQ(box.askGpus(8), "Insufficient GPU Devices");
  EXPECT_TRUE(box.node.byType["gpu"].back().inUse());
}

TEST(AllocateDevices, CutsTemplates) {
  GpuTemplates templates;
  templates.matched = {Interned("huawei.com/npu-core")};
  const Amounts asked{{"koordinator.sh/gpu.shared", 1},
                      {"huawei.com/npu-core", 4},
                      {"huawei.com/npu-cpu", 2},
                      {"koordinator.sh/gpu-memory", 8 * kGi}};
  Box box;
  box.labels = {{api::label::kGpuVendor, "huawei"}, {api::label::kGpuModel, "910B"}};
  box.terms.templates = &templates;
  EXPECT_THAT(box.ask(asked), HasSubstr("never: node(s) No template of huawei-910B is"));
  templates.byModel["huawei-910B"]["quarter"] = {{"huawei.com/npu-core", 4},
                                                 {"huawei.com/npu-cpu", 2},
                                                 {"koordinator.sh/gpu-memory", 8 * kGi}};
  EXPECT_EQ(box.ask(asked), "gpu 0");
  EXPECT_EQ(box.annotation["gpu"][0].extension->gpuSharedResourceTemplate, "quarter");
}

TEST(DeviceWish, RefusesWordsItDoesNotKnow) {
  EXPECT_THAT(Box().hint(R"({"rdma":{"allocateStrategy":"All"}})").askGpus(1),
              HasSubstr("allocateStrategy is 'All'; want one of ApplyForAll, RequestsAsCount"));
  EXPECT_THAT(Box().joint(R"({"deviceTypes":["gpu"],"requiredScope":"Near"})").askGpus(1),
              HasSubstr("requiredScope is 'Near'; want one of SamePCIe"));
}

}  // namespace
}  // namespace mangrove::placement
