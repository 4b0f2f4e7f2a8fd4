// Accelerators and RDMA devices: numbered cases are those of the behaviour spec.
#include <gtest/gtest.h>

#include "agent/devices/device_reporter.h"
#include "agent/devices/nvml.h"
#include "agent/devices/rdma.h"
#include "agent/devices/xpu.h"
#include "agent/testing/scene.h"
#include "api/wire/names.h"
#include "kernel/testing/fake_root.h"

namespace mangrove::agent {
namespace {

using kernel::FakeRoot;

std::string xpuJson(int minor, const std::string& peers, const std::string& more = "") {
  return fmt::format(
      R"({{"vendor":"huawei","model":"Ascend-910B","uuid":"u{}","minor":"{}","resources":)"
      R"({{"gpu-core":"100","gpu-memory":"64Gi","huawei.com/npu-cpu":"8"}},"topology":{{"p2pLinks":)"
      R"([{{"peerMinor":"{}","type":"HCCS"}}],"socketID":"0","nodeID":"1","pcieID":"pci0000:5d",)"
      R"("busID":"0000:5e:00.0"}}{}}})",
      minor, minor, peers, more);
}

TEST(Gpus, Case47Names) {
  EXPECT_EQ(gpuModelOf("NVIDIA A100-SXM4-80GB"), "A100-SXM4-80GB");
  EXPECT_EQ(gpuModelOf("Tesla T4"), "Tesla-T4");
  EXPECT_EQ(busIdOf("00000000:5E:00.0"), "0000:5e:00.0");
  EXPECT_EQ(numaNodeOf("-1\n"), 0);
  EXPECT_EQ(numaNodeOf("1\n"), 1);
  EXPECT_EQ(pcieIdOf("../../../devices/pci0000:5d/0000:5d:02.0/0000:5e:00.0"), "pci0000:5d");
  EXPECT_EQ(pcieIdOf("../../../devices/virtual/x"), "");
  EXPECT_EQ(rdmaMinorOf("mlx5_1"), 1);
  EXPECT_EQ(rdmaMinorOf("hfi1_0"), std::nullopt);
  EXPECT_EQ(rdmaMinorOf("mlx5"), std::nullopt);
  EXPECT_TRUE(isActivePort("4: ACTIVE"));
  EXPECT_FALSE(isActivePort("1: DOWN"));
}

TEST(Gpus, Case47MixedModelsHaveNoLabel) {
  Gpu one{.uuid = "a", .name = "NVIDIA A100-SXM4-80GB", .minor = 1, .memory = kGiB * 80};
  Gpu two{.uuid = "b", .name = "NVIDIA H100", .minor = 0, .memory = kGiB * 80};
  const std::string model(api::label::kGpuModel);
  const Inventory same = gpuInventory({one, one});
  EXPECT_EQ(same.labels.at(model), "A100-SXM4-80GB");
  EXPECT_EQ(same.labels.at(std::string(api::label::kGpuVendor)), "nvidia");
  const Inventory mixed = gpuInventory({one, two});
  EXPECT_FALSE(mixed.labels.contains(model));
  EXPECT_EQ(mixed.devices[0].id, "b") << "sorted by minor";
  EXPECT_EQ(mixed.devices[1].resources.amount(api::resource::kGpuMemory).text(), "80Gi");
  EXPECT_TRUE(mixed.devices[0].conditions.empty()) << "a healthy card needs no condition";
}

TEST(Gpus, Case38UsageIsCutToWholeNumbers) {
  const auto first = gpuUsage("a", 0, {80.9, 30, 100}), second = gpuUsage("b", 1, {40, 50, 200});
  EXPECT_EQ(first.resources.amount(api::resource::kGpuCore).text(), "80");
  EXPECT_EQ(first.resources.amount(api::resource::kGpuMemory).text(), "30");
  EXPECT_EQ(first.resources.amount(api::resource::kGpuMemoryRatio).text(), "30");
  EXPECT_EQ(second.resources.amount(api::resource::kGpuMemoryRatio).text(), "25");
  EXPECT_EQ(gpuUsage("c", 2, {1, 1, 0}).resources.amount(api::resource::kGpuMemoryRatio).text(),
            "0");
}

TEST(Xpus, Case48LinkedDevicesAreOnePartition) {
  std::string all;
  const char* peers[] = {"1,2,3", "0,2,3", "0,1,3", "0, 1, 2"};
  for (int i = 0; i < 4; ++i) all += (i > 0 ? "," : "") + xpuJson(i, peers[i]);
  const auto devices = parseXpuFile("[" + all + "]");
  ASSERT_TRUE(devices) << devices.error().text();
  const Inventory found = xpuInventory(*devices);
  EXPECT_EQ(found.annotations.at(std::string(api::annotation::kGpuPartitions)),
            R"({"4":[{"minors":[0,1,2,3],"gpuLinkType":"HCCS","allocationScore":1}]})");
  EXPECT_EQ(found.labels.at(std::string(api::label::kGpuPartitionPolicy)), "Prefer");
  EXPECT_EQ(found.labels.at(std::string(api::label::kGpuVendor)), "huawei");
  ASSERT_EQ(found.devices.size(), 4u);
  const api::DeviceInfo& first = found.devices[0];
  EXPECT_EQ(first.type.view(), "gpu");
  EXPECT_TRUE(first.health) << "no status means healthy";
  EXPECT_EQ(first.resources.amount("koordinator.sh/gpu-core").text(), "100");
  EXPECT_EQ(first.resources.amount("koordinator.sh/gpu-memory").text(), "64Gi");
  EXPECT_EQ(first.resources.amount("koordinator.sh/gpu-memory-ratio").text(), "100");
  EXPECT_EQ(first.resources.amount("huawei.com/npu-cpu").text(), "8");
  EXPECT_EQ(first.topology->nodeId, 1);
}

TEST(Xpus, StatusAndWhatIsMissing) {
  const auto sick = parseXpuFile(
      R"([{"vendor":"v","model":"m","uuid":"u","minor":"2","topology":{"nodeID":"","mustHonorPartition":true},)"
      R"("status":{"healthy":false,"errCode":"XID 74","errMessage":"link"}}])");
  ASSERT_TRUE(sick);
  const Inventory found = xpuInventory(*sick);
  EXPECT_FALSE(found.devices[0].health);
  EXPECT_EQ(found.devices[0].topology->nodeId, -1);
  ASSERT_EQ(found.devices[0].conditions.size(), 1u);
  EXPECT_EQ(found.devices[0].conditions[0].reason.view(), "XID 74");
  EXPECT_FALSE(found.labels.contains(std::string(api::label::kGpuPartitionPolicy)))
      << "no links, no partitions";
  for (const char* bad : {"", "{}", "[1]", R"([{"uuid":"u"}])", R"([{"minor":"x"}])",
                          R"([{"minor":"1","resources":{"gpu-core":"many"}}])"})
    EXPECT_FALSE(parseXpuFile(bad)) << bad;
}

void addNic(FakeRoot& fs, const std::string& bdf, const std::string& ib, const std::string& state) {
  const std::string real = "sys/devices/pci0000:5d/0000:5d:02.0/" + bdf;
  fs.write(real + "/class", "0x020000\n");
  fs.write(real + "/numa_node", "-1\n");
  if (!ib.empty()) fs.write(real + "/infiniband/" + ib + "/ports/1/state", state + "\n");
  fs.add(kernel::link("sys/bus/pci/devices/" + bdf,
                      "../../../devices/pci0000:5d/0000:5d:02.0/" + bdf));
}

TEST(Rdma, DevicesBySysfs) {
  FakeRoot fs;
  addNic(fs, "0000:5e:00.0", "mlx5_1", "4: ACTIVE");
  addNic(fs, "0000:5e:00.1", "hfi1_0", "4: ACTIVE");
  addNic(fs, "0000:5e:00.2", "mlx5_0", "1: DOWN");
  addNic(fs, "0000:5f:00.0", "", "");
  addNic(fs, "0000:5e:08.0", "mlx5_9", "4: ACTIVE");
  const std::string dir = "sys/devices/pci0000:5d/0000:5d:02.0/";
  fs.add(kernel::link(dir + "0000:5e:08.0/physfn", "../0000:5e:00.0"));
  fs.write(dir + "0000:5e:00.0/sriov_numvfs", "1\n");
  fs.add(kernel::link(dir + "0000:5e:00.0/virtfn0", "../0000:5e:08.0"));
  const Inventory found = rdmaInventory(fs.root(), {});
  ASSERT_EQ(found.devices.size(), 2u) << "neither foreign names nor virtual functions";
  EXPECT_EQ(found.devices[0].minor, 0);
  EXPECT_FALSE(found.devices[0].health);
  const api::DeviceInfo& up = found.devices[1];
  EXPECT_EQ(up.minor, 1);
  EXPECT_TRUE(up.health);
  EXPECT_EQ(up.topology->pcieId, "pci0000:5d");
  EXPECT_EQ(up.topology->nodeId, 0);
  EXPECT_EQ(up.resources.amount(api::resource::kRdma).text(), "100");
  ASSERT_EQ(up.vfGroups.size(), 1u);
  EXPECT_EQ(up.vfGroups[0].vfs[0].busId, "0000:5e:08.0");
  EXPECT_EQ(up.vfGroups[0].vfs[0].minor, -1);
}

TEST(DevicePatch, TimesAloneAreNoDifference) {
  Inventory want;
  want.devices.push_back({});
  want.devices[0].type = Interned("gpu");
  want.devices[0].conditions.push_back(healthCondition(true, "", ""));
  api::Device object;
  const WallTime t0{std::chrono::hours(1)}, t1{std::chrono::hours(2)};
  object.spec.devices = withTransitions(want.devices, {}, t0);
  EXPECT_FALSE(devicePatch(object, want, t1));
  want.devices[0].conditions[0] = healthCondition(false, "XID 74", "link");
  const auto patch = devicePatch(object, want, t1);
  ASSERT_TRUE(patch);
  EXPECT_FALSE(patch->as_object().contains("metadata"));
}

// The whole agent: created once, then quiet; a broken file keeps what was known.
TEST(Devices, TheAgentReportsThem) {
  FakeRoot fs;
  fs.write("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  fs.write("sys/devices/system/cpu/online", "0\n");
  fs.write("sys/devices/system/cpu/possible", "0\n");
  fs.write("sys/devices/system/cpu/cpu0/topology/core_id", "0\n");
  fs.write("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
  const std::string file = "var/run/koordlet/xpu-device-infos/ic-device";
  fs.write(file, "[" + xpuJson(0, "1") + "]");
  AgentOptions options;
  options.devices.accelerators = true;
  options.topology.enabled = false;
  testing::Scene scene(fs.path(), options);
  scene.put("Node", testing::nodeJson("n1", "1", "1Gi"));
  scene.start();
  scene.seconds(5);
  ASSERT_EQ(scene.writes.size(), 1u);
  EXPECT_EQ(scene.writes[0].second.at("kind").as_string(), "Device");
  json::Value made = scene.writes[0].second;
  made.at("metadata").as_object()["resourceVersion"] = "9";
  scene.event("Device", "ADDED", json::write(made));
  scene.seconds(60);
  EXPECT_EQ(scene.writes.size(), 1u) << "nothing changed";
  fs.write(file, "[{");
  scene.seconds(30);
  EXPECT_EQ(scene.writes.size(), 1u) << "a broken file says nothing";
  EXPECT_GT(scene.agent().deviceStats().failedLooks, 0u);
  fs.write(file, "[" + xpuJson(0, "1", R"(,"status":{"healthy":false,"errCode":"E1"})") + "]");
  scene.seconds(30);
  ASSERT_GE(scene.writes.size(), 2u);
  EXPECT_FALSE(scene.writes[1].second.at("spec").at("devices").at(0).at("health").as_bool());
}

}  // namespace
}  // namespace mangrove::agent
