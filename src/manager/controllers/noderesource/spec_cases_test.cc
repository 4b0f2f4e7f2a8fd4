// What a node sells, by the numbered cases of the reference's behaviour. Where each of the seventy
// is:
//
//   1–3   SpecCases.Batch1To3Reservations         45–54 PodMutating.*, named there
//   4–9   SpecCases.Batch4To9Policies             55–59 PodValidating.*, named there
//   10–11 SpecCases.Batch10And11HostApplications  60–62 QuotaValidating.*, named there
//   12–14 SpecCases.Batch12To14Classes…           63    QuotaMutating.CompletesWeight…
//   15–16 SpecCases.Batch15And16Zones             64    QuotaAdmission.BooksWhatFits
//   17    SpecCases.Batch17NeverNegative          65    QuotaAdmission.TriesMoreOften…
//   18–19 SpecCases.Batch18And19Degrade           66    QuotaProfile.SumsItsNodes
//   20–22 SpecCases.Batch20To22ThirdParties       67    QuotaProfile.TreeIdComesFrom…
//   23    SpecCases.Batch23Normalization…         68    ConfigAdmission.EntriesMust…
//   24–26 SpecCases.Sync24To26                    69    ConfigAdmission.Thresholds…
//   27–31 SpecCases.Mid27To31                     70    ConfigAdmission.BandwidthAddsUp
//   32    SpecCases.Case32TheClusterSwitchWins
//   33    NodeStrategy.LabelsOverAnnotation…
//   34    NodeStrategy.AnEntryOutOfRange…
//   35    ManagerTest.AnUnreadableConfiguration…, Config.InvalidAtStartIsUnavailable
//   36    Config.KeepsTheLastGoodValueOfEachKeyAlone
//   37–38 SpecCases.Case37Normalization, Case38Amplification
//   39–41 NodeStatus.*, named there
//   42–44 SpecCases.Cases42To44Devices
#include <gtest/gtest.h>

#include "api/wire/names.h"
#include "manager/controllers/noderesource/batch_prepare.h"
#include "manager/controllers/noderesource/node_sync.h"
#include "manager/controllers/noderesource/plan.h"
#include "manager/controllers/noderesource/ratios.h"
#include "manager/controllers/noderesource/test_scene.h"

namespace mangrove::manager {
namespace {

using namespace testing;  // Scene

constexpr int64_t kG = 1'000'000'000;

#define EXPECT_SOLD(scene, cpu, memory)             \
  do {                                              \
    const NodePlan p = (scene).plan();              \
    EXPECT_FALSE(p.batch.reset) << p.batch.because; \
    EXPECT_EQ(p.batch.milliCpu, cpu);               \
    EXPECT_EQ(p.batch.memoryBytes, memory);         \
  } while (false)

TEST(SpecCases, Batch1To3Reservations) {
  EXPECT_SOLD(n(), 25000, 33 * kG);
  Scene two = n();
  two.node.meta.annotations.set(api::annotation::kNodeReservation, R"({"reservedCPUs":"0-1"})");
  EXPECT_SOLD(two, 25000, 33 * kG);
  Scene three = n();
  Scene::size(three.node.status.allocatable, "90", "100G");
  three.node.meta.annotations.set(api::annotation::kNodeReservation,
                                  R"({"resources":{"cpu":"2","memory":"5G"}})");
  EXPECT_SOLD(three, 22000, 25 * kG);
}

TEST(SpecCases, Batch4To9Policies) {
  Scene s = n();
  const std::string high = R"("cpuReclaimThresholdPercent":70,"memoryReclaimThresholdPercent":80,)";
  s.config = configOf(high + R"("memoryCalculatePolicy":"request")");
  EXPECT_SOLD(s, 30000, 36 * kG);
  s.config = configOf(
      high + R"("cpuCalculatePolicy":"maxUsageRequest","memoryCalculatePolicy":"request")");
  EXPECT_SOLD(s, 21000, 36 * kG);
  const std::string over =
      R"("cpuReclaimThresholdPercent":150,"memoryReclaimThresholdPercent":120,)";
  const std::string six =
      over + R"("cpuCalculatePolicy":"maxUsageRequest","memoryCalculatePolicy":"request")";
  s.config = configOf(six);
  EXPECT_SOLD(s, 101000, 84 * kG);
  s.config = configOf(six + R"(,"batchCPUThresholdPercent":100)");
  EXPECT_SOLD(s, 100000, 84 * kG);
  const std::string eight =
      over + R"("cpuCalculatePolicy":"usage","memoryCalculatePolicy":"maxUsageRequest")";
  s.config = configOf(eight);
  EXPECT_SOLD(s, 110000, 72 * kG);
  s.config =
      configOf(eight + R"(,"batchCPUThresholdPercent":100,"batchMemoryThresholdPercent":100)");
  EXPECT_SOLD(s, 100000, 72 * kG);
}

TEST(SpecCases, Batch10And11HostApplications) {
  for (const char* priority : {"koord-prod", "koord-mid"}) {
    Scene s = n();
    s.system("4", "6G");
    s.hostApp(priority, "3", "6G");
    EXPECT_SOLD(s, 25000, 33 * kG);
  }
  Scene s = n();
  s.system("4", "6G");
  s.hostApp("koord-batch", "3", "6G");
  EXPECT_SOLD(s, 28000, 39 * kG);
}

TEST(SpecCases, Batch12To14ClassesAndDanglingMetrics) {
  Scene twelve;
  twelve.pod("lse", kLse, req("10", "10G"));
  twelve.measured("lse", "5", "5G");
  twelve.pod("prod", kLs, req("6", "6G"));
  twelve.measured("prod", "6", "6G");
  twelve.pod("batch", kBe, "");
  twelve.measured("batch", "10", "10G");
  twelve.pod("mid", kMid, "");
  twelve.measured("mid", "22", "22G");
  EXPECT_SOLD(twelve, 20000, 33 * kG);

  Scene thirteen;
  thirteen.system("5", "10G");
  thirteen.pod("prod", kLs, req("5", "5G"));
  thirteen.measured("prod", "5", "5G");
  thirteen.pod("prod1", kLs, req("10", "10G"));
  thirteen.measured("gone", "10", "10G", "koord-prod");
  EXPECT_SOLD(thirteen, 35000, 43 * kG);
  thirteen.metric.podsMetric.back().priority = Interned("koord-batch");
  EXPECT_SOLD(thirteen, 45000, 53 * kG);
}

TEST(SpecCases, Batch15And16Zones) {
  const auto pinned =
      R"(,"annotations":{"scheduling.koordinator.sh/resource-status":"{\"numaNodeResources\":[{\"node\":0}]}"})";
  Scene s;
  s.zone("node-0", "50", "62G");
  s.zone("node-1", "50", "58G");
  s.pod("lse", kLs, req("5", "5G"), "Running", pinned);
  s.measured("lse", "5", "5G");
  s.pod("prod", kLs, "");
  s.measured("prod", "6", "6G");
  s.pod("mid", kMid, "");
  s.measured("mid", "22", "22G");
  const auto plan = s.plan();
  ASSERT_EQ(plan.batch.zones.size(), 2u);
  EXPECT_EQ(plan.batch.zones[0].milliCpu, 10000);
  EXPECT_EQ(plan.batch.zones[1].milliCpu, 15000);
  EXPECT_EQ(plan.batch.zones[0].memory, *Quantity::parse("15300M"));
  EXPECT_EQ(plan.batch.zones[1].memory, *Quantity::parse("17700M"));

  Scene r;
  r.config = configOf(
      R"("cpuReclaimThresholdPercent":65,"memoryReclaimThresholdPercent":65,"memoryCalculatePolicy":"request")");
  r.zone("node-0", "50", "62G");
  r.zone("node-1", "50", "58G");
  r.pod("lse", kLse, req("10", "10G"), "Running", pinned);
  r.pod("prod", kLs, req("10", "10G"));
  r.measured("prod", "6", "6G");
  r.pod("mid", kMid, req("20", "40G"));
  r.measured("mid", "22", "22G");
  r.measured("gone", "2", "4G", "koord-prod");
  r.pod("batch", kBe, "");
  const auto got = r.plan();
  EXPECT_EQ(got.batch.milliCpu, 18000);
  EXPECT_EQ(got.batch.memoryBytes, 18 * kG);
  EXPECT_EQ(got.batch.zones[0].milliCpu, 4000);
  EXPECT_EQ(got.batch.zones[1].milliCpu, 14000);
  EXPECT_EQ(got.batch.zones[0].memory, *Quantity::parse("5300M"));
  EXPECT_EQ(got.batch.zones[1].memory, *Quantity::parse("12700M"));
}

// What the agent measured per NUMA node counts for its zone, when it did so for all.
TEST(SpecCases, ZonesUseWhatWasMeasuredOnThem) {
  Scene s;
  s.zone("node-0", "50", "60G");
  s.zone("node-1", "50", "60G");
  api::NumaUsage busy, quiet;
  busy.numaNodeId = 0;
  quiet.numaNodeId = 1;
  Scene::size(busy.systemUsage.resources, "6", "10G");
  Scene::size(quiet.systemUsage.resources, "1", "2G");
  s.metric.nodeMetric->numaUsages = {quiet, busy};
  const auto zones = s.plan().batch.zones;
  EXPECT_EQ(zones[0].milliCpu, 26500);         // 50 − 17.5 − 6
  EXPECT_EQ(zones[1].milliCpu, 31500);         // 50 − 17.5 − 1
  s.metric.nodeMetric->numaUsages.pop_back();  // one is missing: equal shares of 7
  EXPECT_EQ(s.plan().batch.zones[0].milliCpu, 29000);
}

// A reservation that cannot be read counts as none, and users are told.
TEST(SpecCases, AnUnreadableReservationIsReported) {
  Scene s = n();
  s.node.meta.annotations.set(api::annotation::kNodeReservation, R"({"reservedCPUs":"x"})");
  const auto plan = s.plan();
  EXPECT_EQ(plan.batch.milliCpu, 25000);
  ASSERT_EQ(plan.troubles.size(), 1u);
  EXPECT_EQ(plan.troubles[0].plugin, "NodeReservation");
}

TEST(SpecCases, Batch17NeverNegative) {
  Scene s = n();
  s.measured("gone", "500", "500G", "koord-prod");
  EXPECT_SOLD(s, 0, 0);
}

TEST(SpecCases, Batch18And19Degrade) {
  Scene s = n();
  s.node.status.allocatable.set(api::resource::kBatchCpu, Quantity::of(1000));
  s.node.status.allocatable.set(api::resource::kMidCpu, Quantity::of(1000));
  s.metric.updateTime = kNow - std::chrono::minutes(15);
  EXPECT_FALSE(s.plan().batch.reset);
  s.metric.updateTime = kNow - std::chrono::minutes(16);
  const auto plan = s.plan();
  EXPECT_TRUE(plan.batch.reset);
  const auto after = granted(s.node, plan.wish);
  EXPECT_FALSE(after.allocatable.has(api::resource::kBatchCpu));
  EXPECT_FALSE(after.allocatable.has(api::resource::kMidCpu));
  s.hasMetric = false;
  EXPECT_TRUE(s.plan().batch.reset);
}

TEST(SpecCases, Batch20To22ThirdParties) {
  constexpr int64_t kGi = int64_t{1} << 30;
  const auto prepared = [&](const char* cpu, const char* memory, bool reset) {
    api::Node node;
    node.meta.annotations.set(
        api::annotation::kThirdPartyAllocations,
        std::string(R"({"allocations":[{"name":"yarn","priority":"koord-batch","resources":{)") +
            R"("kubernetes.io/batch-cpu":")" + cpu + R"(","kubernetes.io/batch-memory":")" +
            memory + R"("}}]})");
    NodeWish wish;
    EXPECT_TRUE(prepareBatch(
        node, {.reset = reset, .milliCpu = 50000, .memoryBytes = 120 * kGi, .ratio = std::nullopt},
        wish));
    return granted(node, wish);
  };
  const auto origin = [](const NodeOwned& node) {
    return *node.annotations.get(api::annotation::kOriginExtendedAllocatable);
  };
  const auto some = prepared("10000", "10Gi", false);
  EXPECT_EQ(some.allocatable.amount(api::resource::kBatchCpu), Quantity::of(40000));
  EXPECT_EQ(some.capacity.amount(api::resource::kBatchMemory), Quantity::of(110 * kGi));
  EXPECT_EQ(
      origin(some),
      R"({"resources":{"kubernetes.io/batch-cpu":"50k","kubernetes.io/batch-memory":"120Gi"}})");
  const auto all = prepared("60000", "120Gi", false);
  EXPECT_EQ(all.allocatable.amount(api::resource::kBatchCpu), Quantity());
  EXPECT_EQ(all.allocatable.amount(api::resource::kBatchMemory), Quantity());
  EXPECT_EQ(origin(all), origin(some));
  const auto gone = prepared("10000", "10Gi", true);
  EXPECT_FALSE(gone.allocatable.has(api::resource::kBatchCpu));
  EXPECT_EQ(origin(gone),
            R"({"resources":{"kubernetes.io/batch-cpu":"0","kubernetes.io/batch-memory":"0"}})");
}

TEST(SpecCases, Batch23NormalizationScalesCpuOnly) {
  Scene s = n();
  s.node.meta.annotations.set(api::annotation::kCpuNormalizationRatio, "1.20");
  s.options.cpuNormalization = false;  // the ratio that is there
  const auto plan = s.plan();
  EXPECT_EQ(**plan.wish.resource(api::resourceNames().batchCpu), Quantity::of(30000));
  EXPECT_EQ(**plan.wish.resource(api::resourceNames().batchMemory), *Quantity::parse("33G"));
  std::vector<api::Zone> zones(2);
  zones[0].name = "node-0";
  zones[1].name = "node-1";
  const std::vector<ZoneAmount> amounts = {{"node-0", 15000, Quantity::of(7)},
                                           {"node-1", 10000, Quantity::of(7)}};
  EXPECT_TRUE(updateZones(zones, amounts, 0.1, 1.2));
  EXPECT_EQ(zones[0].find(api::resource::kBatchCpu)->allocatable, Quantity::of(18000));
  EXPECT_EQ(zones[1].find(api::resource::kBatchCpu)->allocatable, Quantity::of(12000));
  EXPECT_EQ(zones[1].find(api::resource::kBatchMemory)->allocatable, Quantity::of(7));
}

TEST(SpecCases, Sync24To26) {
  const auto verdict = [](const char* before, const char* after, int64_t seconds) {
    NodeOwned a, b;
    Scene::size(a.capacity, "1", "1G");
    a.allocatable = a.capacity;
    b = a;
    if (before) a.allocatable.set(api::resource::kBatchCpu, *Quantity::parse(before));
    if (after) b.allocatable.set(api::resource::kBatchCpu, *Quantity::parse(after));
    return judgeSync(a, b, {0.1, std::chrono::seconds(300), std::chrono::seconds(seconds)}).status;
  };
  EXPECT_FALSE(verdict("20000", "22000", 10));
  EXPECT_TRUE(verdict("20000", "22001", 10));
  EXPECT_TRUE(verdict("0", "1", 10));
  EXPECT_FALSE(verdict("0", "0", 10));
  EXPECT_TRUE(verdict(nullptr, "0", 10));
  EXPECT_TRUE(verdict("1", "1", 301));
  EXPECT_FALSE(verdict("1", "1", 300));
}

Scene midScene(std::string_view usageCpu, std::string_view usageMemory, std::string_view cpu,
               std::string_view memory) {
  Scene s;
  Scene::size(s.node.status.capacity, "100", "210G");
  Scene::size(s.node.status.allocatable, "100", "210G");
  s.system("0", "0");
  s.usage(usageCpu, usageMemory);
  s.metric.prodReclaimableMetric.emplace();
  Scene::size(s.metric.prodReclaimableMetric->resource.resources, cpu, memory);
  return s;
}

#define EXPECT_MID(scene, cpu, memory)    \
  do {                                    \
    const NodePlan p = (scene).plan();    \
    EXPECT_EQ(p.mid.milliCpu, cpu);       \
    EXPECT_EQ(p.mid.memoryBytes, memory); \
  } while (false)

TEST(SpecCases, Mid27To31) {
  EXPECT_MID(midScene("20", "45G", "10", "15G"), 10000, 15 * kG);
  EXPECT_MID(midScene("90", "200G", "20", "20G"), 10000, 10 * kG);
  Scene s = midScene("20", "45G", "15", "30G");
  const std::string limits = R"("midCPUThresholdPercent":10,"midMemoryThresholdPercent":20)";
  s.config = configOf(limits + R"(,"midUnallocatedPercent":10)");
  s.pod("prod", kLs, req("20", "40G"));
  s.node.meta.annotations.set(api::annotation::kNodeReservation,
                              R"({"resources":{"memory":"10G"}})");
  EXPECT_MID(s, 10000, 42 * kG);
  s.config = configOf(
      limits +
      R"(,"midReclaimMode":"static","midStaticCPUReservedPercent":100,"midStaticMemoryReservedPercent":100)");
  EXPECT_MID(s, 10000, 42 * kG);
  Scene missing = midScene("20", "45G", "10", "15G");
  missing.metric.nodeMetric->nodeUsage = {};
  EXPECT_MID(missing, 0, 0);
}

TEST(SpecCases, Case32TheClusterSwitchWins) {
  Scene s = n();
  s.config = R"({"enable":false})";
  s.node.meta.annotations.set(api::annotation::kColocationStrategy, R"({"enable":true})");
  EXPECT_FALSE(s.plan().enabled);
  s.options.mostSpecificEnable = true;  // on request
  EXPECT_TRUE(s.plan().enabled);
}

TEST(SpecCases, Case37Normalization) {
  const auto ratio = [](const char* config, bool ht, bool turbo) {
    const std::map<std::string, std::string> data = {{"cpu-normalization-config", config}};
    const auto loaded = loadConfig({}, &data).state;
    api::CpuBasicInfo cpu{"m", ht, turbo, "", ""};
    return normalizationRatio(loaded.normalization, {}, std::optional(cpu));
  };
  const auto text = [&](const char* value) {
    return std::string(R"({"enable":true,"ratioModel":{"m":{"hyperThreadEnabledRatio":)") + value +
           "}}}";
  };
  EXPECT_EQ(api::formatCpuNormalizationRatio(*ratio(text("1.2").c_str(), true, false)), "1.20");
  EXPECT_FALSE(ratio(text("0.9").c_str(), true, false));
  EXPECT_FALSE(ratio(text("5.1").c_str(), true, false));
  EXPECT_FALSE(ratio(text("1.2").c_str(), false, false));
  EXPECT_EQ(*ratio(R"({"enable":false})", true, true), 1.0);
}

TEST(SpecCases, Case38Amplification) {
  const auto ratios = [](const char* config) {
    const std::map<std::string, std::string> data = {{"resource-amplification-config", config}};
    return amplificationRatios(loadConfig({}, &data).state.amplification, {}, 1.5);
  };
  const auto got = ratios(
      R"({"enable":true,"resourceAmplificationRatio":{"cpu":0.8,"memory":3.5,"storage":1.8}})");
  ASSERT_TRUE(got && *got);
  EXPECT_EQ(api::formatAmplificationRatios(**got), R"({"cpu":1.20,"memory":3.50,"storage":1.80})");
  EXPECT_FALSE(ratios(R"({"enable":true,"resourceAmplificationRatio":{"cpu":0.5}})"));
}

api::Device deviceOf(const char* text) {
  return *api::decodeText<api::Device>(text);
}

TEST(SpecCases, Cases42To44Devices) {
  Scene s;
  s.options.gpuShared = true;
  s.device = deviceOf(
      R"({"metadata":{"name":"n1","labels":{"node.koordinator.sh/gpu-vendor":"nvidia","node.koordinator.sh/gpu-model":"A100","node.koordinator.sh/gpu-driver-version":"1"}},"spec":{"devices":[
        {"type":"gpu","health":true,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory":"8000","koordinator.sh/gpu-memory-ratio":"100"}},
        {"type":"gpu","health":true,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory":"10000","koordinator.sh/gpu-memory-ratio":"100"}}]}})");
  auto after = granted(s.node, s.plan().wish);
  const auto amount = [&](std::string_view name) { return after.allocatable.amount(name).value(); };
  EXPECT_EQ(amount(api::resource::kGpu), 200);
  EXPECT_EQ(amount(api::resource::kGpuCore), 200);
  EXPECT_EQ(amount(api::resource::kGpuMemory), 18000);
  EXPECT_EQ(amount(api::resource::kGpuMemoryRatio), 200);
  EXPECT_EQ(amount(api::resource::kGpuShared), 200);
  EXPECT_EQ(after.labels.get(api::label::kGpuModel), "A100");

  s.options.gpuShared = false;
  s.device = deviceOf(
      R"({"metadata":{"name":"n1","labels":{"node.koordinator.sh/gpu-vendor":"huawei"}},"spec":{"devices":[
        {"type":"gpu","health":true,"resources":{"huawei.com/npu-core":"20","huawei.com/npu-cpu":"20","huawei.com/npu-dvpp":"100","koordinator.sh/gpu-memory":"8000","koordinator.sh/gpu-memory-ratio":"100"}},
        {"type":"gpu","health":true,"resources":{"huawei.com/npu-core":"20","huawei.com/npu-cpu":"20","huawei.com/npu-dvpp":"100","koordinator.sh/gpu-memory":"10000","koordinator.sh/gpu-memory-ratio":"100"}},
        {"type":"rdma","health":true},{"type":"rdma","health":true},{"type":"rdma","health":false}]}})");
  after = granted(s.node, s.plan().wish);
  EXPECT_EQ(amount(api::resource::kHuaweiNpuCore), 40);
  EXPECT_EQ(amount(api::resource::kHuaweiNpuDvpp), 200);
  EXPECT_FALSE(after.allocatable.has(api::resource::kGpu));
  EXPECT_EQ(amount(api::resource::kRdma), 200);

  // Devices are written whether or not colocation is on; all unhealthy: names go.
  s.config = R"({"enable":false})";
  s.node.status.allocatable.set(api::resource::kRdma, Quantity::of(100));
  for (auto& device : s.device->spec.devices) device.health = false;
  after = granted(s.node, s.plan().wish);
  EXPECT_FALSE(after.allocatable.has(api::resource::kRdma));
}

// Beside a kubelet the vendor's name is its device plugin's; where our own runner is nobody else sells
// it.
TEST(SpecCases, WholeCardsUnderTheVendorsNameWhereWeRunThePods) {
  Scene s;
  s.device = deviceOf(R"({"metadata":{"name":"n1"},"spec":{"devices":[
      {"type":"gpu","minor":0,"health":true,"resources":{"koordinator.sh/gpu-core":"100"}},
      {"type":"gpu","minor":1,"health":false},
      {"type":"gpu","minor":2,"health":true,"resources":{"koordinator.sh/gpu-core":"100"}}]}})");
  EXPECT_FALSE(granted(s.node, s.plan().wish).allocatable.has(api::resource::kNvidiaGpu));
  s.node.status.info.kubeletVersion = Interned("v1.35.0-mangrove.0.1.0");
  auto after = granted(s.node, s.plan().wish);
  EXPECT_EQ(after.allocatable.amount(api::resource::kNvidiaGpu).value(), 2);
  s.node.status.allocatable = after.allocatable;
  s.device.reset();
  EXPECT_FALSE(granted(s.node, s.plan().wish).allocatable.has(api::resource::kNvidiaGpu));
}

// A node that had to evict: services see what they saw, and nothing new of batch work fits.
TEST(SpecCases, APausedNodeSellsOnlyWhatIsPlaced) {
  Scene s = n();
  s.pod("e", kBe, R"("kubernetes.io/batch-cpu":"3000","kubernetes.io/batch-memory":"4G")");
  const auto batchCpu = [&] { return **s.plan().wish.resource(api::resourceNames().batchCpu); };
  const Quantity open = batchCpu();
  EXPECT_GT(open.value(), 3000);
  s.node.status.conditions.push_back(*api::decodeText<api::Condition>(
      R"({"type":"colocation.mangrove.io/BestEffortPaused","status":"True"})"));
  EXPECT_EQ(batchCpu(), Quantity::of(3000));
  EXPECT_EQ(**s.plan().wish.resource(api::resourceNames().batchMemory), *Quantity::parse("4G"));
  s.node.status.conditions.back().status = api::Truth::kFalse;
  EXPECT_EQ(batchCpu(), open);
}

// Room that a reservation keeps is asked for and not used: by usage nothing changes, by request it
// is not sold. What its owners took is theirs already, and one that has ended keeps nothing.
TEST(SpecCases, ReservedRoomCountsAsRequestWhereAskedFor) {
  const auto with = [](std::string_view settings, std::string_view phase) {
    Scene s = n();
    s.config =
        R"({"enable":true,"cpuReclaimThresholdPercent":65,"memoryReclaimThresholdPercent":65)";
    s.config += std::string(settings) + "}";
    s.reservations.push_back(*api::decodeText<api::Reservation>(
        R"({"metadata":{"name":"r"},"spec":{"template":{"spec":{"containers":[
            {"name":"c","resources":{"requests":{"cpu":"6","memory":"8G"}}}]}}},
            "status":{"phase":")" +
        std::string(phase) + R"(","nodeName":"n1",
            "allocatable":{"cpu":"6","memory":"8G"},"allocated":{"cpu":"4","memory":"5G"}}})"));
    return s.plan().batch;
  };
  const std::string off =
      R"(,"cpuCalculatePolicy":"maxUsageRequest","memoryCalculatePolicy":"request")";
  const std::string on = off + R"(,"countReservations":true)";
  const BatchResult without = with(off, "Available"), counted = with(on, "Available");
  EXPECT_EQ(counted.milliCpu, without.milliCpu - 2000);
  EXPECT_EQ(counted.memoryBytes, without.memoryBytes - 3 * kG);
  EXPECT_EQ(with(on, "Succeeded").memoryBytes, without.memoryBytes);
  EXPECT_EQ(with(on, "Waiting").milliCpu, without.milliCpu);
  const BatchResult byUsage = with("", "Available");
  EXPECT_EQ(with(R"(,"countReservations":true)", "Available").milliCpu, byUsage.milliCpu);
  EXPECT_EQ(with(R"(,"countReservations":true)", "Available").memoryBytes, byUsage.memoryBytes);
}

// Zones of a node that sells nothing show nothing either, and zones that never sold are left
// alone.
TEST(SpecCases, ZonesAreEmptiedWithTheNode) {
  Scene s = n();
  s.zone("node-0", "50", "60G");
  s.zone("node-1", "50", "60G");
  auto& sold = s.topology->zones[0].resources;
  const Quantity amount = Quantity::of(12000);
  sold.push_back({Interned(api::resource::kBatchCpu), amount, amount, amount});
  const auto stale = [](Scene& scene) { scene.metric.updateTime -= std::chrono::minutes(20); };
  const auto off = [](Scene& scene) { scene.config = R"({"enable":false})"; };
  for (void (*change)(Scene&) : {+stale, +off}) {
    Scene reset = s;
    change(reset);
    const auto plan = reset.plan();
    ASSERT_EQ(plan.zones.size(), 1u);
    EXPECT_EQ(plan.zones[0].zone, "node-0");
    EXPECT_EQ(plan.zones[0].milliCpu, 0);
    EXPECT_TRUE(plan.zones[0].memory.isZero());
  }
}

// Amplification makes allocatable larger than capacity; what the kubelet keeps is still kept.
TEST(SpecCases, TheKubeletsShareSurvivesAmplification) {
  Scene s;
  s.system("1", "1G");
  Scene::size(s.node.status.allocatable, "180", "100G");
  s.node.meta.annotations.set(api::annotation::kRawAllocatable, R"({"cpu":"90","memory":"100G"})");
  EXPECT_SOLD(s, 55000, 58 * kG);  // 100 − 35 − 10, 120 − 42 − 20
  s.node.meta.annotations.erase(api::annotation::kRawAllocatable);
  EXPECT_SOLD(s, 64000, 58 * kG);  // nothing says what it keeps of cpu: the system's 1
}

}  // namespace
}  // namespace mangrove::manager
