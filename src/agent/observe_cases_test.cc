// The numbered cases of the observing half's behaviour spec ("Cases worth testing") that no other
// test covers, and where each of the others is:
//
//   1–3      ProcStat.*                                   (kernel/parsers_test.cc)
//   4, 5     Agent.FirstTickPrimesOnly, CpuRate.*, Agent.ShrinkingCountersAndHotUnplugDropOneSample
//   6–9      MemInfo.*                                    (kernel/parsers_test.cc)
//   10, 12   Numa.IdsLeaveOutInitiatorsAndMustBeContiguous (kernel/machine_test.cc), Case12 here
//   11       Case11 here
//   13–18    CgroupStat.*, vector cgroup-stat-parse
//   19       CpuUnits.Conversions, vector cpu-conversions
//   20–23    CgroupStat.Limits, CgroupStat.NumaPagesAndBytes (pages are bytes/4096 on the wire of
//   the
//            reference; ours keeps the bytes, whatever the page size)
//   24       Pressure.BothFormsAndGarbage
//   25       CgroupStat.ColdPages; clamped: MemInfo.UsageOfTheNode, Collector::usageOf
//   26–28    UsageRules.BestEffort, Case26And28 here
//   29–31    UsageRules.SystemIsWhatIsLeft, Case29 here
//   32       HostApps.PathsByQosAndByWish, Case32 here
//   33, 34   Case33And34 here, vector metric-aggregation
//   35       by construction: a shelf's columns are fixed when it is made, Shelf::put checks them
//   36       ReportPolicy.DefaultsAndLimits
//   37       Case37 here
//   38       Case38 here, Gpus.Case38* (devices/devices_test.cc), vector pod-classes
//   39       Agent.WithoutNodeMetricNothingIsWrittenAndNothingFails
//   40       Case40 here
//   41–44    Topology.*                                   (report/topology_test.cc), Case43 here
//   45       CpuTopology.* (kernel/machine_test.cc): sysfs says per CPU what lscpu's rows say
//   46       BlockDevices.PartitionsVolumesAndMounts      (kernel/machine_test.cc)
//   47, 48   Gpus.Case47*, Xpus.Case48*, Rdma.*           (devices/devices_test.cc)
//   49–51    CgroupLayout.*, vector cgroup-paths
//   52, 53   Models.PredictAsTheReferenceDoes, Case53 here, vectors decaying-histogram and
//            histogram-buckets
//   54, 55   Reclaim.TheWorkedCasesOfTheSpec, vector prod-reclaimable
//   56       Case56 here, Checkpoint.*
//   57       AuditEvents.Case57*                          (audit/events_test.cc)
#include <gtest/gtest.h>

#include "agent/collect/node_meter.h"
#include "agent/devices/nvml.h"
#include "agent/report/status.h"
#include "agent/report/topology.h"
#include "agent/testing/moving.h"
#include "agent/testing/scene.h"
#include "api/koordinator/pod_stalls.h"
#include "api/wire/names.h"
#include "kernel/numa.h"
#include "kernel/testing/fake_root.h"
#include "stats/decaying_histogram.h"

namespace mangrove::agent {
namespace {

using namespace std::chrono_literals;
using testing::Moving;
using testing::Scene;

const std::string kMachines = MANGROVE_SOURCE_DIR "/test/machines/";

TEST(ObserveCases, Case11CpuPerNumaNode) {
  kernel::FakeRoot fs;
  fs.write("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  fs.write("sys/devices/system/cpu/online", "0-1\n");
  fs.write("sys/devices/system/cpu/possible", "0-3\n");
  for (int i = 0; i < 2; ++i) {
    const std::string dir = fmt::format("sys/devices/system/cpu/cpu{}/topology/", i);
    fs.write(dir + "core_id", fmt::format("{}\n", i));
    fs.write(dir + "physical_package_id", "0\n");
    fs.write(fmt::format("sys/devices/system/node/node{}/cpulist", i), fmt::format("{}\n", i));
    fs.write(fmt::format("sys/bus/node/devices/node{}/meminfo", i),
             fmt::format("Node {} MemTotal: 1024 kB\nNode {} MemFree: 512 kB\n", i, i));
  }
  fs.write("proc/meminfo", "MemTotal: 2048 kB\nMemFree: 1024 kB\nMemAvailable: 1024 kB\n");
  const auto ticks = [&](int a, int b) {
    fs.write("proc/stat", fmt::format("cpu {} 0 0 0 0 0 0 0\ncpu0 {} 0 0 0 0 0 0 0\n"
                                      "cpu1 {} 0 0 0 0 0 0 0\n",
                                      a + b, a, b));
  };
  const auto machine = Machine::open({.root = fs.path(), .live = false});
  ASSERT_TRUE(machine) << machine.error().text();
  const kernel::SysRoot root = fs.root();
  Reader reader(root, {});
  NodeMeter meter(**machine);
  VirtualClock clock;
  NodeLook look;
  MeterTroubles troubles;
  clock.advance(10s);
  ticks(1000, 1000);
  meter.sample(reader, clock, std::nullopt, look, troubles);
  clock.advance(1s);
  ticks(1050, 1100);
  meter.sample(reader, clock, std::nullopt, look, troubles);
  ASSERT_EQ(look.numa.size(), 2u);
  EXPECT_NEAR(look.numa[0].usage.cpu.value(), 0.5, 1e-9);
  EXPECT_NEAR(look.numa[1].usage.cpu.value(), 1.0, 1e-9);
  ticks(1060, 1110);
  meter.sample(reader, clock, std::nullopt, look, troubles);
  EXPECT_FALSE(look.numa[0].usage.cpu) << "no time passed";
  EXPECT_EQ(look.numa[0].usage.memory, kKiB * 512) << "memory is still told";
}

TEST(ObserveCases, Case12InitiatorLists) {
  const std::vector<std::string> names{"node0", "node1", "node2", "node3", "node4", "node5"};
  EXPECT_FALSE(kernel::numaIdsOf(names, "0-2,5")) << "3 and 4 are left, and do not begin at 0";
  EXPECT_EQ(*kernel::numaIdsOf(names, "3-5\n"), (std::vector<int>{0, 1, 2}));
  EXPECT_FALSE(kernel::numaIdsOf(names, "1-2-3"));
}

std::string podWithBatchCpu(const std::string& name, const std::string& uid, const char* qos,
                            std::vector<int> milli) {
  std::string containers;
  for (size_t i = 0; i < milli.size(); ++i)
    containers += fmt::format(
        R"({}{{"name":"c{}","resources":{{"requests":{{"kubernetes.io/batch-cpu":"{}"}}}}}})",
        i > 0 ? "," : "", i, milli[i]);
  return fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"d","uid":"{}","resourceVersion":"1","labels":)"
      R"({{"koordinator.sh/qosClass":"{}"}}}},"spec":{{"nodeName":"n1","containers":[{}]}},)"
      R"("status":{{"phase":"Running"}}}})",
      name, uid, qos, containers);
}

TEST(ObserveCases, Case26And28LimitAndRequestsOfBestEffortWork) {
  for (const char* name : {"v1-2core-vm", "v2-2socket-smt"}) {
    Moving machine(kMachines + name);
    const bool v2 = std::string(name).starts_with("v2");
    const std::string be =
        v2 ? "sys/fs/cgroup/kubepods.slice/kubepods-besteffort.slice" : "kubepods/besteffort";
    const auto cpus = [&](const std::string& set) {
      if (v2)
        machine.files().write(be + "/cpuset.cpus.effective", set);
      else
        machine.files().write("sys/fs/cgroup/cpuset/" + be + "/cpuset.cpus", set);
    };
    const auto quota = [&](const std::string& us) {
      if (v2)
        machine.files().write(be + "/cpu.max", (us == "-1" ? "max" : us) + " 100000\n");
      else
        machine.files().write("sys/fs/cgroup/cpu/" + be + "/cpu.cfs_quota_us", us + "\n");
    };
    Scene scene(machine.path());
    scene.put("Pod", podWithBatchCpu("a", "a", "BE", {500, 1000}));
    scene.put("Pod", podWithBatchCpu("b", "b", "LS", {700}));
    scene.start();
    const auto tick = [&] { scene.ticks(1, [&](int) { machine.second(); }); };
    tick();
    EXPECT_EQ(scene.look().node.bestEffort.usage, MilliCpu{0}) << "the first tick";
    cpus("0-1\n");
    quota("-1");
    tick();
    EXPECT_EQ(scene.look().node.bestEffort.limit, MilliCpu{2000}) << name;
    EXPECT_EQ(scene.look().node.bestEffort.request, MilliCpu{1500}) << "services do not count";
    quota("80000");
    tick();
    EXPECT_EQ(scene.look().node.bestEffort.limit, MilliCpu{800}) << name;
  }
}

TEST(ObserveCases, Case29WithoutOneOfTheInputsThereIsNoRest) {
  Moving machine(kMachines + "v2-2socket-smt");
  Scene scene(machine.path());
  scene.start();
  scene.ticks(5, [&](int) { machine.second(); });
  EXPECT_TRUE(scene.look().node.system.cpu);
  scene.ticks(1, [&](int) {
    machine.second();
    machine.files().write("sys/fs/cgroup/kubepods.slice/memory.stat", "anon x\n");
  });
  EXPECT_FALSE(scene.look().node.system.memory) << "the pods' part is not known";
  EXPECT_FALSE(scene.look().node.system.cpu);
}

TEST(ObserveCases, Case32HostApplicationsByTheMemoryPolicy) {
  for (const bool withCache : {false, true}) {
    Moving machine(kMachines + "v2-2socket-smt");
    const std::string dir = "sys/fs/cgroup/host-latency-sensitive/nginx/";
    machine.files().write(dir + "memory.current", "209715200\n");
    machine.files().write(dir + "memory.stat",
                          "anon 1\nfile 1\ninactive_anon 104857600\nactive_anon 0\n"
                          "inactive_file 1048576\nactive_file 0\nunevictable 0\n");
    Scene scene(machine.path());
    scene.put("NodeSLO",
              R"({"metadata":{"name":"n1","resourceVersion":"3"},"spec":{"hostApplications":)"
              R"([{"name":"nginx","qos":"LS"}]}})");
    scene.put("NodeMetric",
              testing::nodeMetricJson(
                  "n1", withCache ? R"({"nodeMemoryCollectPolicy":"usageWithPageCache"})" : "{}"));
    scene.start();
    int64_t used = 0;
    scene.ticks(5, [&](int) {
      machine.second();
      machine.files().write(dir + "cpu.stat", fmt::format("usage_usec {}\n", used += 100000));
    });
    const Look& look = scene.look();
    ASSERT_EQ(look.hostApps.size(), 1u);
    EXPECT_EQ(look.hostApps[0].usage.memory, Bytes{104857600});
    EXPECT_EQ(look.hostApps[0].usage.memoryWithCache, Bytes{209715200});
    EXPECT_EQ(
        look.node.system.memory.value().v,
        look.node.usage.memory->v - look.node.pods.memory->v - (withCache ? 209715200 : 104857600));
  }
}

TEST(ObserveCases, Case33And34Percentiles) {
  std::vector<double> values{800, 100, 200, 600, 700, 0, 500, 400, 300};
  EXPECT_EQ(stats::percentile(values, 0.9), 700);
  EXPECT_EQ(stats::percentile(values, 0.5), 300);
  std::vector<double> one{1000};
  EXPECT_EQ(stats::percentile(one, 0.99), 1000);
  const struct {
    size_t n;
    std::array<size_t, 4> index;  // of p50, p90, p95, p99
  } rows[] = {
      {4, {1, 2, 2, 2}}, {10, {4, 8, 8, 8}}, {60, {29, 53, 56, 58}}, {300, {149, 269, 284, 296}}};
  for (const auto& row : rows) {
    const double shares[] = {0.5, 0.9, 0.95, 0.99};
    for (size_t i = 0; i < 4; ++i)
      EXPECT_EQ(stats::percentileIndex(row.n, shares[i]), row.index[i])
          << row.n << " " << shares[i];
  }
}

// A history with `seconds` of samples of 3 cores and 3 GiB, and a look at its end.
struct Told {
  explicit Told(int seconds) : machine(*Machine::open({.root = source.path(), .live = false})) {
    for (int i = 0; i <= seconds; ++i) {
      clock.advance(1s);
      history.begin(clock.mono());
      history.node().put(history.nodeTrack(), node_column::kCpu, 3);
      history.node().put(history.nodeTrack(), node_column::kMemory, 3.0 * (1 << 30));
      history.node().put(history.nodeTrack(), node_column::kMemoryWithCache, 4.0 * (1 << 30));
    }
    look.at = clock.mono();
    look.machine = machine.get();
    look.book = &book;
    look.history = &history;
  }
  api::NodeMetricStatus status(ReportPolicy policy = {}) const {
    return buildStatus({look, policy, {}});
  }
  Moving source{kMachines + "v2-2socket-smt"};
  std::unique_ptr<Machine> machine;
  VirtualClock clock;
  History history = History::open({}, MonoTime{});
  PodBook book;
  Look look;
};

// Pressure where it is measured, throttling beside it; nothing where it is not.
TEST(ObserveCases, WhatAPodWaitsForIsToldWithItsUsage) {
  Told told(60);
  const auto make = [&](const char* name, const char* uid) {
    auto pod = std::make_shared<api::Pod>();
    pod->meta.name = api::Text(name);
    pod->meta.uid = api::Uid(uid);
    told.book.put(pod);
    const Shelf::Id id = told.history.pods().track(uid);
    for (int i = 0; i < 30; ++i) {
      told.clock.advance(1s);
      told.history.begin(told.clock.mono());
      told.history.pods().put(id, pod_column::kCpu, 1);
      told.history.pods().put(id, pod_column::kMemory, 1e9);
      told.history.pods().put(id, pod_column::kThrottled, 0.25);
    }
    told.look.at = told.clock.mono();
  };
  make("calm", "11111111-0000-4000-8000-000000000001");
  make("waits", "11111111-0000-4000-8000-000000000002");
  PodLook look;
  look.uid = "11111111-0000-4000-8000-000000000002";
  look.pressure.cpu.emplace().some.avg60 = 17.6;
  told.look.pods = std::span(&look, 1);
  const auto status = told.status();
  ASSERT_EQ(status.podsMetric.size(), 2u);
  EXPECT_FALSE(status.podsMetric[0].extensions) << "its pressure is not measured";
  EXPECT_EQ(api::stallsOf(status.podsMetric[1]), (api::PodStalls{18, 25}));
}

TEST(ObserveCases, Case37HalfOfTheWindowMustBeCovered) {
  ReportPolicy policy;
  policy.durations = {10min};
  for (const int seconds : {150, 299, 300}) {
    const auto status = Told(seconds).status(policy);
    const api::AggregatedUsage& usage = status.nodeMetric->aggregatedNodeUsages.at(0);
    for (const auto& one : usage.usage) {
      ASSERT_TRUE(one) << "the keys are always there";
      EXPECT_EQ(one->resources.empty(), seconds < 300) << seconds;
    }
  }
}

// Two hours are two hours, not the half hour that is kept second by second; what was just begun to
// be remembered is told as soon as half of it is there.
TEST(ObserveCases, WindowsBeyondTheKeptHistory) {
  ReportPolicy policy;
  policy.durations = {30min, 2h};
  policy.window = 1h;
  Told told(0);
  const auto later = [&](int seconds, double cores) {
    for (int i = 0; i < seconds; ++i) {
      told.clock.advance(1s);
      told.history.begin(told.clock.mono());
      for (const auto& [column, value] :
           {std::pair{node_column::kCpu, cores}, {node_column::kMemory, 3.0 * (1 << 30)}})
        told.history.node().put(told.history.nodeTrack(), column, value);
    }
    told.look.at = told.clock.mono();
    return told.status(policy);
  };
  EXPECT_EQ(longShape(2h, 1440, 30min).step, 10s);
  EXPECT_EQ(longShape(24h, 1440, 30min).step, 60s);
  EXPECT_EQ(longShape(168h, 360, 5min).step, 5min) << "no longer than the seconds reach back";
  told.history.remember(2h, 1h);
  const auto cpu = [](const std::optional<api::ResourceMap>& map) {
    return map->resources.cpu().v;
  };
  const auto early = later(1800, 1);
  EXPECT_TRUE(early.nodeMetric->aggregatedNodeUsages.at(1)
                  .usage[static_cast<size_t>(api::Aggregation::kAvg)]
                  ->resources.empty())
      << "half an hour says too little of two";
  EXPECT_NEAR(early.nodeMetric->nodeUsage.resources.cpu().v, 1000, 5);
  later(1800, 1);
  const auto late = later(3600, 3);
  const auto& two = late.nodeMetric->aggregatedNodeUsages.at(1).usage;
  EXPECT_NEAR(cpu(two[static_cast<size_t>(api::Aggregation::kAvg)]), 2000, 20);
  EXPECT_EQ(cpu(two[static_cast<size_t>(api::Aggregation::kP90)]), 3000);
  EXPECT_LT(cpu(two[static_cast<size_t>(api::Aggregation::kP50)]), 3000) << "half of it was quiet";
  EXPECT_NEAR(late.nodeMetric->nodeUsage.resources.cpu().v, 3000, 20) << "the last hour";
  EXPECT_GT(told.history.bytes(), History::open({}, MonoTime{}).bytes());
  told.history.remember(30min, 5min);
  EXPECT_EQ(&told.history.over(HistoryKind::kNode, 2h), &told.history.node()) << "nobody asks";
}

TEST(ObserveCases, Case38NodeGpusAndClasses) {
  Told told(60);
  const auto gpu = [&](int minor, const char* uuid, double core, double used, double total) {
    const Shelf::Id id = told.history.gpus().track(gpuSubject(minor, uuid));
    told.history.gpus().put(id, gpu_column::kCore, core);
    told.history.gpus().put(id, gpu_column::kMemory, used);
    told.history.gpus().put(id, gpu_column::kMemoryTotal, total);
  };
  gpu(1, "b", 40, 50, 200);
  gpu(0, "a", 80, 30, 100);
  const auto status = told.status();
  const api::ResourceMap& usage = status.nodeMetric->nodeUsage;
  EXPECT_EQ(usage.resources.amount("cpu").text(), "3");
  EXPECT_EQ(usage.resources.amount("memory").text(), "3Gi");
  ASSERT_EQ(usage.devices.size(), 2u);
  EXPECT_EQ(usage.devices[0].id, "a");
  EXPECT_EQ(usage.devices[0].resources.amount(api::resource::kGpuMemoryRatio).text(), "30");
  EXPECT_EQ(usage.devices[1].resources.amount(api::resource::kGpuMemoryRatio).text(), "25");
  EXPECT_EQ(usage.devices[1].resources.amount(api::resource::kGpuCore).text(), "40");
}

TEST(ObserveCases, Case40PageCacheIsAlwaysCollected) {
  ReportPolicy policy;
  policy.memory = MemoryPolicy::kWithCache;
  Told told(60);
  EXPECT_EQ(told.status(policy).nodeMetric->nodeUsage.resources.amount("memory").text(), "4Gi");
  policy.memory = MemoryPolicy::kWithHotCache;
  EXPECT_EQ(told.status(policy).nodeMetric->nodeUsage.resources.amount("memory").text(), "3Gi")
      << "where the kernel does not count idle pages";
}

TEST(ObserveCases, Case43ReservationsBeyondTheCapacityLeaveNothing) {
  EXPECT_EQ(zoneReservation(Quantity::of(2), Quantity::of(1), 3).milliValue(), 334);
  EXPECT_EQ(zoneReservation(Quantity::of(1), Quantity::of(1), 2).milliValue(), 0);
}

TEST(ObserveCases, Case53BucketsOfOtherOptions) {
  const stats::ExponentialBuckets buckets(500, 40, 1.5);
  ASSERT_EQ(buckets.count(), 6u);
  const double starts[] = {0, 40, 100, 190, 325, 527.5};
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(buckets.start(i), starts[i], 1e-9);
  EXPECT_EQ(buckets.find(39.99), 0u);
  EXPECT_EQ(buckets.find(40), 1u);
  EXPECT_EQ(buckets.find(900), 5u);
}

TEST(ObserveCases, Case56WeightsAreScaledToTenThousand) {
  stats::DecayingHistogram histogram(stats::cpuHistogram());
  const WallTime at{std::chrono::hours(480000)};
  histogram.add(0.01, 10, at);
  histogram.add(0.03, 5, at);
  const auto saved = histogram.checkpoint();
  ASSERT_EQ(saved.bucketWeights.size(), 2u);
  EXPECT_EQ(saved.bucketWeights.at(0), 10000);
  EXPECT_EQ(saved.bucketWeights.at(1), 5000);
  const auto restored = stats::DecayingHistogram::restore(stats::cpuHistogram(), saved);
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->checkpoint().bucketWeights, saved.bucketWeights);
  EXPECT_NEAR(restored->checkpoint().totalWeight / saved.totalWeight, 1, 1e-12);
}

}  // namespace
}  // namespace mangrove::agent
