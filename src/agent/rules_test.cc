// The formulas of collection, reporting and prediction, over the numbered cases of the behaviour
// spec.
#include <gtest/gtest.h>

#include "agent/collect/host_app_path.h"
#include "agent/collect/rate.h"
#include "agent/collect/usage_rules.h"
#include "agent/predict/checkpoint.h"
#include "agent/predict/models.h"
#include "agent/predict/reclaim.h"
#include "agent/report/changes.h"
#include "agent/report/kubelet.h"
#include "agent/report/policy.h"
#include "agent/report/reporter.h"
#include "agent/report/status.h"
#include "api/annotations/annotation.h"
#include "api/koordinator/pod_stalls.h"
#include "kernel/testing/fake_root.h"

namespace mangrove::agent {
namespace {

using namespace std::chrono_literals;

template <class T>
T decoded(const std::string& json) {
  json::Doc doc;
  auto value = api::decode<T>(*doc.parse(json));
  EXPECT_TRUE(value) << (value ? "" : value.error().text());
  return *value;
}

MonoTime at(Duration d) {
  return MonoTime(d);
}

TEST(CpuRate, OneSecondOfCpuInOneSecondIsOneCore) {
  CpuRate rate;
  EXPECT_EQ(rate.next(0s, at(10s), 4), std::nullopt);
  EXPECT_EQ(rate.trouble(), RateTrouble::kFirst);
  EXPECT_EQ(rate.next(1s, at(11s), 4), 1.0);
  EXPECT_EQ(rate.next(1s, at(11s), 4), std::nullopt) << "no time passed";
  EXPECT_EQ(rate.next(400ms, at(12s), 4), std::nullopt) << "it shrank";
  EXPECT_EQ(rate.next(900ms, at(13s), 4), 0.5) << "and goes on from there";
  EXPECT_EQ(rate.next(100s, at(14s), 4), std::nullopt) << "4 CPUs cannot do that";
  EXPECT_EQ(rate.trouble(), RateTrouble::kImplausible);
  EXPECT_EQ(rate.next(101s, at(60s), 4), std::nullopt) << "too long ago to say anything";
  EXPECT_EQ(rate.trouble(), RateTrouble::kGap);
}

TEST(CpuRate, OneBadReadingSpoilsNoOther) {
  CpuRate rate;
  rate.next(50s, at(10s), 64);
  EXPECT_EQ(rate.next(51s, at(11s), 64), 1.0);
  EXPECT_EQ(rate.next(5s, at(12s), 64), std::nullopt) << "a digit was lost";
  EXPECT_EQ(rate.next(53s, at(13s), 64), std::nullopt) << "48 cores in a second is not believed";
  EXPECT_EQ(rate.next(54s, at(14s), 64), 1.0);
  EXPECT_EQ(rate.next(9000s, at(15s), 64), std::nullopt) << "a digit too many";
  EXPECT_EQ(rate.next(56s, at(16s), 64), std::nullopt);
  EXPECT_EQ(rate.next(57s, at(17s), 64), 1.0);
}

TEST(UsageRules, SystemIsWhatIsLeft) {
  const CpuAndMemory left = systemUsage({1, Bytes{1024}}, {0.5, Bytes{512}}, {0.1, Bytes{128}});
  EXPECT_NEAR(left.cpu, 0.4, 1e-12);
  EXPECT_EQ(left.memory.v, 384);
  EXPECT_EQ(systemUsage({2, Bytes{2048}}, {1.5, Bytes{1024}}, {}),
            (CpuAndMemory{0.5, Bytes{1024}}));
  EXPECT_EQ(systemUsage({1, Bytes{5}}, {1.2, Bytes{6}}, {}), CpuAndMemory{});
  EXPECT_EQ(numaSystemCpu(1.5, std::vector<double>{1, 2}), (std::vector<double>{0.5, 1}));
  EXPECT_EQ(numaSystemCpu(1.5, std::vector<double>{0, 0}), (std::vector<double>{0, 0}));
}

TEST(UsageRules, BestEffort) {
  EXPECT_EQ(bestEffortLimit(2, kernel::CpuQuota::none(), 100000).v, 2000);
  EXPECT_EQ(bestEffortLimit(15, kernel::CpuQuota::ofUs(800000), 100000).v, 8000);
  EXPECT_EQ(bestEffortUsage(12000s, 12004s, 1s).v, 4000);
  EXPECT_EQ(bestEffortUsage(12000s, 12000s, 0s).v, 0);
  const auto pod = decoded<api::Pod>(
      R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"kubernetes.io/batch-cpu":"500"}}},)"
      R"({"name":"b","resources":{"requests":{"kubernetes.io/batch-cpu":"1000"}}}]}})");
  EXPECT_EQ(batchRequest(pod).v, 1500);
}

TEST(HostApps, PathsByQosAndByWish) {
  const kernel::CgroupLayout layout(kernel::CgroupDriver::kSystemd);
  api::HostApplication app;
  app.name = "x";
  EXPECT_EQ(hostAppDir(app, layout), "x");
  app.qos = "LS";
  EXPECT_EQ(hostAppDir(app, layout), "host-latency-sensitive/x");
  app.qos = "BE";
  EXPECT_EQ(hostAppDir(app, layout), "host-best-effort/x");
  app.cgroupPath = {"KubepodsBesteffort", "", "test-host-app/"};
  EXPECT_EQ(hostAppDir(app, layout), "kubepods.slice/kubepods-besteffort.slice/test-host-app");
}

TEST(ReportPolicy, DefaultsAndLimits) {
  const auto policy = [](const std::string& json) {
    return policyOf(decoded<api::NodeMetricSpec>(json));
  };
  EXPECT_EQ(policy("{}"), ReportPolicy{});
  EXPECT_EQ(policy(R"({"metricCollectPolicy":{"reportIntervalSeconds":10}})").interval, 30s);
  EXPECT_EQ(policy(R"({"metricCollectPolicy":{"aggregateDurationSeconds":10}})").window, 60s);
  const ReportPolicy one =
      policy(R"({"metricCollectPolicy":{"nodeAggregatePolicy":{"durations":["1m"]}}})");
  EXPECT_EQ(one.durations, std::vector<Duration>{1min});
  EXPECT_EQ(one.interval, 60s);
  EXPECT_EQ(
      policy(R"({"metricCollectPolicy":{"nodeMemoryCollectPolicy":"usageWithPageCache"}})").memory,
      MemoryPolicy::kWithCache);
}

TEST(Status, AmountsAreCut) {
  const api::ResourceList list = resourcesOf(3.0009, 3.0 * 1024 * 1024 * 1024 + 0.7);
  EXPECT_EQ(list.amount("cpu").text(), "3");
  EXPECT_EQ(list.amount("memory").text(), "3Gi");
  EXPECT_EQ(resourcesOf(-1, std::nan("")).cpu().v, 0);
}

api::NodeMetricStatus statusOf(double nodeCpu, double podCpu) {
  api::NodeMetricStatus status;
  status.nodeMetric.emplace();
  status.nodeMetric->nodeUsage.resources = resourcesOf(nodeCpu, 1e9);
  status.podsMetric.push_back({});
  status.podsMetric[0].name = api::Text("web");
  status.podsMetric[0].podUsage.resources = resourcesOf(podCpu, 1e8);
  return status;
}

TEST(Changes, NoiseIsNotWorthAPatch) {
  const NodeSize size{MilliCpu{32000}, kGiB * 64};
  const auto sent = statusOf(8, 1);
  EXPECT_FALSE(worthSending(sent, sent, size));
  EXPECT_FALSE(worthSending(sent, statusOf(8.3, 1), size)) << "1 % of the node";
  EXPECT_TRUE(worthSending(sent, statusOf(8.4, 1), size));
  EXPECT_FALSE(worthSending(sent, statusOf(8, 1.12), size)) << "0.4 % of the node";
  EXPECT_TRUE(worthSending(sent, statusOf(8, 1.2), size)) << "what is left to sell";
  // Two that move against each other leave as much for sale, unless one of them is somebody else now.
  const auto two = [&](double a, double b) {
    auto status = statusOf(8, a);
    status.podsMetric.push_back(statusOf(8, b).podsMetric[0]);
    status.podsMetric[1].name = api::Text("db");
    return status;
  };
  EXPECT_FALSE(worthSending(two(1, 1), two(1.5, 0.5), size));
  EXPECT_TRUE(worthSending(two(1, 1), two(1.7, 0.3), size)) << "2 % of the node";
  auto withoutPod = sent;
  withoutPod.podsMetric.clear();
  EXPECT_TRUE(worthSending(sent, withoutPod, size)) << "a pod went";
  auto otherClass = sent;
  otherClass.podsMetric[0].qos = Interned("LSR");
  EXPECT_TRUE(worthSending(sent, otherClass, size));
  const auto stalling = [&](double cpu) {
    auto status = sent;
    status.podsMetric[0].extensions = api::extensionsOf({cpu, 0});
    return status;
  };
  EXPECT_TRUE(worthSending(sent, stalling(3), size)) << "it is measured now";
  EXPECT_FALSE(worthSending(stalling(3), stalling(12), size)) << "a few points";
  EXPECT_TRUE(worthSending(stalling(3), stalling(13), size));
  const json::Value patch = statusPatch(sent, withoutPod);
  EXPECT_EQ(json::write(patch), R"({"status":{"podsMetric":null}})");
}

TEST(Changes, LoadJumps) {
  EXPECT_FALSE(loadJumped(1, 1.4, 0.5)) << "below the floor";
  EXPECT_TRUE(loadJumped(1, 1.6, 0.5));
  EXPECT_FALSE(loadJumped(20, 21.5, 0.5)) << "below a tenth";
  EXPECT_TRUE(loadJumped(20, 17, 0.5)) << "downwards as well";
}

// Request, age and model of one pod.
struct PodCase {
  const char* cpu;
  const char* memory;
  int ageHours;
  std::optional<Peak> model;
  bool deleting = false;
};

Reclaim reclaimOf(const std::vector<PodCase>& cases, Amounts allocatable) {
  std::vector<api::Pod> pods;
  for (const PodCase& c : cases) {
    pods.push_back(decoded<api::Pod>(fmt::format(
        R"({{"metadata":{{"labels":{{"koordinator.sh/qosClass":"LS"}}}},"spec":{{"priority":9500,)"
        R"("containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{}","memory":"{}"}}}}}}]}},)"
        R"("status":{{"phase":"Running"}}}})",
        c.cpu, c.memory)));
    if (c.deleting) pods.back().meta.deletionTimestamp = WallTime{};
  }
  std::vector<ReclaimPod> inputs;
  for (size_t i = 0; i < pods.size(); ++i)
    inputs.push_back({&pods[i], std::chrono::hours(cases[i].ageHours), cases[i].model});
  return prodReclaimable({.allocatable = allocatable,
                          .pods = inputs,
                          .system = Peak{MilliCpu{300}, kMiB * 512},
                          .prod = Peak{MilliCpu{1000}, kGiB},
                          .none = Peak{}});
}

TEST(Reclaim, TheWorkedCasesOfTheSpec) {
  const std::vector<PodCase> pods = {
      {"1", "1Gi", 1, std::nullopt},
      {"2", "2Gi", 100, Peak{MilliCpu{500}, kGiB}},
      {"4", "4Gi", 100, Peak{MilliCpu{500}, kGiB}, true},
  };
  const Reclaim r = reclaimOf(pods, {MilliCpu{3000}, kGiB * 3});
  EXPECT_EQ(r.byPods.reclaimable, (Amounts{MilliCpu{1450}, Bytes{966367642}}));
  EXPECT_EQ(r.byPriority->reclaimable, (Amounts{MilliCpu{1570}, Bytes{1449551463}}));
  EXPECT_EQ(*r.reclaimable, (Amounts{MilliCpu{1450}, Bytes{966367642}}));
  EXPECT_EQ(r.peak->cpu.v, 1550);
  const Reclaim small = reclaimOf(pods, {MilliCpu{1000}, kGiB});
  EXPECT_EQ(small.byPods.reclaimable, (Amounts{MilliCpu{450}, Bytes{0}}));
  EXPECT_EQ(*small.reclaimable, Amounts{});
}

TEST(Reclaim, WithoutModelsNothingIsGuessed) {
  const Reclaim r = prodReclaimable({.allocatable = {MilliCpu{4000}, kGiB}, .pods = {}});
  EXPECT_FALSE(r.reclaimable);
  EXPECT_FALSE(r.peak);
}

TEST(Models, PredictAsTheReferenceDoes) {
  Models models({});
  const WallTime now = WallTime(std::chrono::hours(500000));
  EXPECT_EQ(models.peak("x"), std::nullopt);
  const struct {
    double cores;
    int64_t milli;
  } cases[] = {{0, 25}, {0.1, 107}, {0.5, 539}, {1, 1035}, {4, 4217}, {2000, 1060437}};
  for (const auto& c : cases) {
    Models one({});
    one.learn("x", {c.cores, 0}, now);
    EXPECT_EQ(one.peak("x")->cpu.v, c.milli) << c.cores;
    EXPECT_EQ(one.peak("x")->memory.v, 5242880);
  }
  models.learn("x", {1, 1024.0 * 1024 * 1024}, now);
  EXPECT_EQ(models.peak("x")->memory.v, 1097586419);
}

TEST(Models, TrustComesWithLessonsNotWithAge) {
  Models models({});
  WallTime now = WallTime(std::chrono::hours(500000));
  for (int minute = 0; minute < 24 * 60; ++minute) {
    now += 1min;
    models.learn("x", {1, 1e9}, now);
    if (minute == 60) {
      EXPECT_FALSE(models.trustedPeak("x", now)) << "an hour is not a day";
    }
  }
  EXPECT_TRUE(models.trustedPeak("x", now));
  EXPECT_NEAR(effectiveLessons(models.find("x")->cpu, now), 779, 2);
  EXPECT_FALSE(models.trustedPeak("x", now + std::chrono::hours(72))) << "it faded";
}

// Half of the lessons are there after six hours, but a cold start is a day.
TEST(Models, TrustComesNotBeforeTheSpanOfAColdStart) {
  Models models({});
  const WallTime begin = WallTime(std::chrono::hours(500000));
  for (int minute = 1; minute <= 24 * 60; ++minute) {
    models.learn("x", {1, 1e9}, begin + std::chrono::minutes(minute));
    if (minute % 3 != 0) models.learn("gaps", {1, 1e9}, begin + std::chrono::minutes(minute));
  }
  EXPECT_FALSE(models.trustedPeak("x", begin + std::chrono::hours(23)));
  EXPECT_TRUE(models.trustedPeak("x", begin + std::chrono::hours(24)));
  EXPECT_TRUE(models.trustedPeak("gaps", begin + std::chrono::hours(24))) << "two lessons of three";
  // A file without the beginning: the shortest time in which it can have learnt so much.
  const Duration span = leastSpan(models.find("x")->cpu, 1min, begin + std::chrono::hours(24));
  EXPECT_NEAR(std::chrono::duration<double>(span).count(), 86400, 300);
  EXPECT_EQ(leastSpan(models.blank().cpu, 1min, begin), Duration::zero());
}

TEST(Models, UnusedOnesExpireButGroupsStay) {
  Models models({});
  const WallTime now = WallTime(std::chrono::hours(500000));
  models.learn("pod", {1, 1}, now);
  models.learn(model_key::kSystem, {1, 1}, now);
  EXPECT_TRUE(models.expire(now + 29min).empty());
  EXPECT_EQ(models.expire(now + 31min), std::vector<std::string>{"pod"});
  EXPECT_EQ(models.all().size(), 1u);
}

TEST(Checkpoint, ModelsAndLessonsComeBackOnceEach) {
  const kernel::FakeRoot place;
  const std::string dir = place.path() / "models";
  const WallTime now = WallTime(std::chrono::hours(500000));
  Models models({});
  CheckpointDir first(dir);
  first.load(models);
  const auto learn = [&](int minute) {
    models.learn("uid-1", {1.5, 3e9}, now + std::chrono::minutes(minute));
    ASSERT_TRUE(first.note({{"uid-1", {1.5, 3e9}}}, now + std::chrono::minutes(minute)));
  };
  learn(1);
  learn(2);
  const std::string lessons = place.read("models/lessons.log");
  ASSERT_TRUE(first.save(models));
  learn(3);
  // As if the process was killed between writing the models and emptying the log.
  Models again({});
  {
    kernel::FakeRoot& writable = const_cast<kernel::FakeRoot&>(place);
    writable.write("models/lessons.log", lessons + place.read("models/lessons.log") + "17 torn");
    writable.write("models/junk.tmp", "x");
    writable.write("models/broken-uid", "{");
  }
  const LoadReport report = CheckpointDir(dir).load(again);
  EXPECT_EQ(report.models, 1u);
  EXPECT_EQ(report.lessons, 1u) << "only the third is new";
  EXPECT_NEAR(effectiveLessons(again.find("uid-1")->cpu, now + 3min), 3, 0.01);
  EXPECT_EQ(again.find("uid-1")->since, now) << "a minute before the first lesson";
  EXPECT_FALSE(place.exists("models/junk.tmp"));
  EXPECT_FALSE(place.exists("models/broken-uid"));
  EXPECT_EQ(place.read("models/lessons.log").find("torn"), std::string::npos)
      << "the next lesson must not become its end";
}

TEST(Checkpoint, ReferenceFilesAreReadAndWritten) {
  const kernel::FakeRoot place;
  const WallTime now = WallTime(std::chrono::hours(500000));
  Models models({});
  models.learn("uid-1", {1.5, 3e9}, now);
  const CheckpointDir dir(place.path() / "unused");
  ASSERT_TRUE(dir.exportTo(place.path() / "export", models));
  const auto saved = json::parse(place.read("export/uid-1"));
  ASSERT_TRUE(saved);
  for (const char* key : {"UID", "CPU", "Memory", "LastUpdated"})
    EXPECT_TRUE(saved->as_object().contains(key)) << key;
  Models imported({});
  const LoadReport report = CheckpointDir(place.path() / "export").load(imported);
  EXPECT_EQ(report.imported, 1u);
  EXPECT_EQ(imported.peak("uid-1")->cpu, models.peak("uid-1")->cpu);
}

TEST(Kubelet, WhereItListens) {
  const auto node = decoded<api::Node>(
      R"({"metadata":{"name":"n1"},"status":{"addresses":[{"type":"Hostname","address":"h"},)"
      R"({"type":"InternalIP","address":"10.0.0.5"}],"daemonEndpoints":{"kubeletEndpoint":{"Port":10250}}}})");
  EXPECT_EQ(*kubeletUrl(node, {}), "https://10.0.0.5:10250");
  EXPECT_EQ(*kubeletUrl(node, {.plainHttp = true}), "http://10.0.0.5:10255");
  EXPECT_FALSE(kubeletUrl(node, {.addressType = "ExternalIP"}));
  EXPECT_EQ(
      parsePodList(R"({"items":[{"metadata":{"name":"a","uid":"u"},"spec":{"containers":[]}}]})")
          ->size(),
      1u);
  EXPECT_FALSE(parsePodList("<html>"));
}

TEST(PodBook, StaticPodsAreFoundByTheirHash) {
  PodBook book;
  book.put(std::make_shared<const api::Pod>(decoded<api::Pod>(
      R"({"metadata":{"name":"s","uid":"mirror-uid","annotations":{"kubernetes.io/config.mirror":"abc123",)"
      R"("kubernetes.io/config.hash":"abc123"}},"spec":{"containers":[]}})")));
  EXPECT_TRUE(book.findByCgroup("abc123"));
  EXPECT_FALSE(book.findByCgroup("mirror_uid"));
  EXPECT_FALSE(book.replace({})) << "a kubelet that just started knows no pods";
  EXPECT_EQ(book.size(), 1u);
  book.remove("mirror-uid");
  EXPECT_FALSE(book.findByCgroup("abc123"));
}

}  // namespace
}  // namespace mangrove::agent
