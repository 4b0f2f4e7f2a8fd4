// GPUs by NVIDIA's library, with a stand-in for it: what pods use of them, and which are well.
#include <filesystem>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "agent/collect/usage_rules.h"
#include "agent/devices/nvml.h"
#include "agent/testing/fake_nvml.h"
#include "agent/testing/scene.h"
#include "api/wire/measured_names.h"
#include "api/wire/names.h"
#include "kernel/testing/fake_root.h"

namespace mangrove::agent {
namespace {

using namespace std::chrono_literals;
using kernel::FakeRoot;
constexpr uint64_t kGig = 1024 * 1024 * 1024;
constexpr const char* kPod = "7712555c-ce62-454a-9e18-9ff0217b8941";

TEST(GpuHealth, ErrorsOfProgramsAndOfCards) {
  const MonoTime now{1h};
  struct Case {
    uint64_t xid;
    bool healthy;
    Duration until;
  };
  for (const Case& c : std::vector<Case>{{13, true, 0s},
                                         {31, true, 0s},
                                         {43, true, 0s},
                                         {45, true, 0s},
                                         {68, true, 0s},
                                         {109, true, 0s},
                                         {63, false, 5min},
                                         {48, false, 1h},
                                         {79, false, 1h}}) {
    GpuHealth health;
    health.error("a", c.xid, now);
    EXPECT_EQ(health.verdict("a", true, now).healthy, c.healthy) << c.xid;
    EXPECT_TRUE(health.verdict("b", true, now).healthy) << "another card";
    if (c.healthy) continue;
    EXPECT_EQ(health.verdict("a", true, now).message, fmt::format("XID {}", c.xid));
    EXPECT_FALSE(health.verdict("a", true, now + c.until - 1s).healthy) << c.xid;
    EXPECT_TRUE(health.verdict("a", true, now + c.until).healthy) << "asked again: " << c.xid;
  }
}

TEST(GpuHealth, WhatItCannotSay) {
  const MonoTime now{1h};
  GpuHealth health;
  EXPECT_EQ(health.verdict("a", false, now).reason, "DeviceDoesNotAnswer");
  health.error("", 79, now);
  EXPECT_FALSE(health.verdict("a", true, now).healthy) << "an error of an unknown card is of all";
  health.unheard("b");
  EXPECT_EQ(health.verdict("b", true, now + 2h).reason, "DeviceHealthCheckNotSupported");
  // A short error after a long one does not shorten it.
  health.error("c", 79, now);
  health.error("c", 63, now + 1min);
  EXPECT_EQ(health.verdict("c", true, now + 30min).message, "XID 79");
}

TEST(UsageRules, ProcessesOfACgroup) {
  const std::string v1 =
      "4:memory:/kubepods/burstable/pod1/abc\n2:cpu,cpuacct:/kubepods/burstable/pod1/abc\n";
  EXPECT_TRUE(isProcessOf(v1, "kubepods/burstable/pod1"));
  EXPECT_FALSE(isProcessOf(v1, "kubepods/burstable/pod11"));
  EXPECT_FALSE(isProcessOf(v1, "kubepods/burstable/od1"));
  EXPECT_TRUE(isProcessOf("0::/../../kubepods.slice/kubepods-pod2.slice\n",
                          "kubepods.slice/kubepods-pod2.slice"))
      << "as a container with a cgroup namespace of its own sees it";
  EXPECT_FALSE(isProcessOf("0::/init.scope\n", "kubepods/pod1"));
  EXPECT_FALSE(isProcessOf("", "kubepods/pod1"));
  EXPECT_FALSE(isProcessOf(v1, ""));
}

class GpuAgent : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libfake_nvml.so";
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) GTEST_SKIP() << "no " << path;
    const auto get = reinterpret_cast<fake_nvml::StateFunction>(::dlsym(library, "fakeNvmlState"));
    ASSERT_NE(get, nullptr);
    nvml = get();
    *nvml = {};
    useGpuLibrary(path);
    makeMachine();
    nvml->cards = {{"GPU-b", "NVIDIA A100-SXM4-80GB", 1, "00000000:5E:00.0", 80 * kGig, {}},
                   {"GPU-a", "NVIDIA A100-SXM4-80GB", 0, "00000000:5D:00.0", 80 * kGig, {}}};
  }
  void TearDown() override { useGpuLibrary("libnvidia-ml.so.1"); }

  void makeMachine() {
    fs.write("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
    fs.write("sys/devices/system/cpu/online", "0\n");
    fs.write("sys/devices/system/cpu/possible", "0\n");
    fs.write("sys/devices/system/cpu/cpu0/topology/core_id", "0\n");
    fs.write("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
    fs.write("proc/stat", "cpu  100 0 100 1000 0 0 0 0 0 0\ncpu0 100 0 100 1000 0 0 0 0 0 0\n");
    fs.write("proc/meminfo",
             "MemTotal: 8388608 kB\nMemFree: 4194304 kB\nMemAvailable: 6291456 kB\n");
    const std::string pod = std::string("sys/fs/cgroup/kubepods/burstable/pod") + kPod;
    for (const std::string& dir :
         {std::string("sys/fs/cgroup/kubepods"), std::string("sys/fs/cgroup/kubepods/burstable"),
          pod, pod + "/c"}) {
      fs.write(dir + "/cpu.stat",
               "usage_usec 1000\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n");
      fs.write(dir + "/memory.stat",
               "anon 4096\nfile 0\ninactive_anon 4096\nactive_anon 0\ninactive_file 0\nactive_file "
               "0\nunevictable 0\n");
    }
    const std::string sysfs = "sys/devices/pci0000:5d/0000:5d:02.0/0000:5e:00.0";
    fs.write(sysfs + "/numa_node", "1\n");
    fs.add(kernel::link("sys/bus/pci/devices/0000:5e:00.0",
                        "../../../devices/pci0000:5d/0000:5d:02.0/0000:5e:00.0"));
    inPod(4711);
    inPod(4712);
    fs.write("proc/4713/cgroup", "0::/system.slice/xorg.service\n");
  }
  void inPod(int pid) {
    fs.write(fmt::format("proc/{}/cgroup", pid),
             fmt::format("0::/kubepods/burstable/pod{}/c\n", kPod));
  }
  static AgentOptions options() {
    AgentOptions options;
    options.devices.accelerators = true;
    options.collect.gpus = true;
    options.topology.enabled = false;
    return options;
  }

  FakeRoot fs;
  fake_nvml::State* nvml = nullptr;
};

std::string amount(const json::Value& device, const char* resource) {
  return std::string(
      device.at("resources").at(fmt::format("koordinator.sh/{}", resource)).as_string());
}

TEST_F(GpuAgent, NodeAndPodsAreChargedByTheirProcesses) {
  // 4712 idles: its memory is in use all the same. 4713 is the host's.
  nvml->cards[0].processes = {{4711, 30 * kGig, 60}, {4712, 10 * kGig, -1}, {4713, kGig, 5}};
  nvml->cards[0].celsius = 71;
  nvml->cards[1].celsius = -1;
  testing::Scene scene(fs.path(), options());
  scene.put("Node", testing::nodeJson("n1", "1", "8Gi"));
  scene.put("NodeMetric", testing::nodeMetricJson("n1"));
  scene.put("Pod", testing::podJson("web", kPod));
  scene.start();
  scene.seconds(10);
  ASSERT_EQ(scene.look().pods.size(), 1u);
  ASSERT_FALSE(scene.patches.empty());
  const json::Value& status = scene.patches.back().at("status");
  const json::Value& node = status.at("nodeMetric").at("nodeUsage").at("devices");
  ASSERT_EQ(node.as_array().size(), 2u);
  EXPECT_EQ(node.at(1).at("id").as_string(), "GPU-b") << "by minor";
  EXPECT_EQ(amount(node.at(1), "gpu-core"), "65");
  EXPECT_EQ(amount(node.at(1), "gpu-memory"), "41Gi");
  EXPECT_EQ(amount(node.at(1), "gpu-memory-ratio"), "51");
  EXPECT_EQ(amount(node.at(0), "gpu-core"), "0");
  const std::string celsius(api::resource::kGpuCelsius);
  EXPECT_EQ(node.at(1).at("resources").at(celsius).as_string(), "71");
  EXPECT_FALSE(node.at(0).at("resources").as_object().contains(celsius)) << "it has no sensor";
  const json::Value& pod = status.at("podsMetric").at(0).at("podUsage").at("devices");
  ASSERT_EQ(pod.as_array().size(), 1u);
  EXPECT_EQ(pod.at(0).at("minor").to_number<int>(), 1);
  EXPECT_EQ(amount(pod.at(0), "gpu-core"), "60");
  EXPECT_EQ(amount(pod.at(0), "gpu-memory"), "40Gi");
  EXPECT_EQ(amount(pod.at(0), "gpu-memory-ratio"), "50");
  EXPECT_FALSE(pod.at(0).at("resources").as_object().contains(celsius)) << "of the card alone";
}

TEST_F(GpuAgent, CardsAreReportedAndAnErrorTakesOneOutForAWhile) {
  nvml->cards[1].tellsErrors = false;
  testing::Scene scene(fs.path(), options());
  scene.put("Node", testing::nodeJson("n1", "1", "8Gi"));
  scene.start();
  scene.seconds(5);
  ASSERT_EQ(scene.writes.size(), 1u);
  const json::Value made = scene.writes[0].second;
  EXPECT_EQ(nvml->registered, 1);
  const auto device = [](const json::Value& object, size_t i) {
    return object.at("spec").at("devices").at(i);
  };
  EXPECT_EQ(made.at("metadata").at("labels").at(std::string(api::label::kGpuModel)).as_string(),
            "A100-SXM4-80GB");
  EXPECT_FALSE(device(made, 0).at("health").as_bool());
  EXPECT_EQ(device(made, 0).at("conditions").at(0).at("reason").as_string(),
            "DeviceHealthCheckNotSupported");
  EXPECT_TRUE(device(made, 1).at("health").as_bool());
  EXPECT_EQ(device(made, 1).at("topology").at("nodeID").to_number<int>(), 1);
  EXPECT_EQ(device(made, 1).at("topology").at("pcieID").as_string(), "pci0000:5d");
  json::Value known = made;
  known.at("metadata").as_object()["resourceVersion"] = "9";
  scene.event("Device", "ADDED", json::write(known));
  nvml->errors = {{0, 31}};
  scene.seconds(30);
  EXPECT_EQ(scene.writes.size(), 1u) << "a program's own error";
  nvml->errors = {{0, 63}};
  scene.seconds(30);
  ASSERT_GE(scene.writes.size(), 2u) << "again and again, until the object says so";
  EXPECT_FALSE(device(scene.writes[1].second, 1).at("health").as_bool());
  json::Value sick = known;
  sick.at("spec").as_object()["devices"] = scene.writes[1].second.at("spec").at("devices");
  sick.at("metadata").as_object()["resourceVersion"] = "10";
  scene.event("Device", "MODIFIED", json::write(sick));
  const size_t before = scene.writes.size();
  scene.seconds(200);
  EXPECT_EQ(scene.writes.size(), before) << "it stays unhealthy for five minutes";
  scene.seconds(130);
  ASSERT_GT(scene.writes.size(), before);
  EXPECT_TRUE(device(scene.writes.back().second, 1).at("health").as_bool()) << "asked again";
}

TEST_F(GpuAgent, ManyProcessesAndACardThatFellOffTheBus) {
  for (unsigned i = 0; i < 100; ++i) nvml->cards[0].processes.push_back({5000 + i, kGig / 2, 1});
  nvml->cards[1].answers = false;
  auto machine = Machine::open({.root = fs.path().string(), .live = false});
  ASSERT_TRUE(machine) << machine.error().text();
  const std::vector<Gpu> gpus = readGpus(**machine, MonoTime{1h});
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(coreUse(gpus[0]), 100);
  EXPECT_EQ(memoryUse(gpus[0]), kGiB * 50);
  EXPECT_FALSE(gpus[1].health.healthy);
  EXPECT_FALSE(coreUse(gpus[1]));
}

}  // namespace
}  // namespace mangrove::agent
