// One read of a file a tick, one decoding of an annotation a pod, one way to shape a cpuset.
#include "agent/qos/picture.h"

#include <gtest/gtest.h>

#include "agent/collect/pod_book.h"
#include "agent/hooks/cpuset.h"
#include "agent/qos/testing/machine_bench.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

using testing::MachineBench;
namespace name = kernel::resource_name;

std::string machineDir(const char* machine) {
  return std::string(MANGROVE_SOURCE_DIR "/test/machines/") + machine;
}

TEST(Picture, EverybodySeesTheSameFromOneReading) {
  MachineBench bench(machineDir("v2-2socket-smt"));
  bench.start();
  Picture picture(bench.scene->agent().machine(), "");
  const std::string group = bench.cgroupOf("BE");
  bench.write("BE", "cpu.cfs_quota_us", "50000 100000");
  EXPECT_EQ(picture.present(group, name::kCpuQuota)->number, 50000);
  bench.write("BE", "cpu.cfs_quota_us", "70000 100000");
  EXPECT_EQ(picture.present(group, name::kCpuQuota)->number, 50000) << "of this tick";
  (void)picture.text("proc/meminfo");
  (void)picture.text("proc/meminfo");
  (void)picture.text("no/such/file");
  (void)picture.text("no/such/file");
  (void)picture.members(group, name::kProcs);
  (void)picture.members(group, name::kProcs);
  EXPECT_EQ(picture.reads(), 4u);
  picture.renew();
  EXPECT_EQ(picture.present(group, name::kCpuQuota)->number, 70000);
  EXPECT_EQ(picture.reads(), 1u);
}

TEST(ColdScan, IsAStrategyAndGivesBack) {
  MachineBench bench(machineDir("anolis-v1-resctrl"));
  const std::string period = "sys/kernel/mm/kidled/scan_period_in_seconds";
  const std::string before = bench.fs.read(period);
  ASSERT_TRUE(bench.gate("ColdPageCollector=true"));
  bench.slo("");
  bench.start();
  bench.seconds(2);
  EXPECT_EQ(bench.read("", period), "5");
  EXPECT_EQ(bench.read("", "sys/kernel/mm/kidled/use_hierarchy"), "1");
  bench.leave();
  EXPECT_EQ(bench.read("", period) + "\n", before);
}

PodPtr podOf(const std::string& annotations, const char* phase) {
  return std::make_shared<const api::Pod>(
      *api::decodeText<api::Pod>(R"({"metadata":{"name":"p","uid":"u1","annotations":)" +
                                 annotations + R"(},"status":{"phase":")" + phase + R"("}})"));
}

TEST(PodBook, DecodesAnnotationsWhenThePodComes) {
  const std::string own = R"({"scheduling.koordinator.sh/resource-status":"{\"cpuset\":\"2-3\"}"})";
  PodBook book;
  const PodPtr pending = podOf(own, "Pending"), running = podOf(own, "Running");
  book.put(pending);
  const PodSaidPtr first = book.saidBy(*pending);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->ownCpus.text(), "2-3");
  EXPECT_TRUE(first->isPlaced());
  book.put(running);
  EXPECT_EQ(book.saidBy(*running), first) << "its annotations are the same";
  EXPECT_EQ(book.saidBy(*pending), nullptr) << "another object is here now";
  const PodPtr other = podOf(R"({"scheduling.koordinator.sh/resource-status":"{"})", "Running");
  book.put(other);
  EXPECT_FALSE(book.saidBy(*other)->status) << "said, not hidden";
  EXPECT_TRUE(book.saidBy(*other)->ownCpus.empty());
}

TEST(ShapedCpus, TheSameForTickAndRuntime) {
  const MachineCpus here{CpuSet::parse("0-7").value(), CpuSet::parse("2-3").value()};
  api::Annotations none, own;
  own.set("scheduling.koordinator.sh/resource-status", R"({"cpuset":"2-3"})");
  struct Row {
    const char* wanted;
    const api::Annotations* said;
    api::KubeQos qos;
    const char* want;
  };
  using enum api::KubeQos;
  for (const Row& row :
       {Row{"2-3", &own, kGuaranteed, "2-3"}, Row{"0-5", &none, kBurstable, "0-1,4-5"},
        Row{"2-3", &none, kBurstable, "0-1,4-7"},  // nothing of its pool is left
        Row{"2-3", &none, kBestEffort, ""}, Row{"", &none, kBestEffort, ""},
        Row{"nonsense", &none, kBurstable, ""}}) {
    const CpusetPod pod{api::Qos::kLs, row.qos, row.said};
    EXPECT_EQ(shapedCpus(row.wanted, pod, here).text(), row.want) << row.wanted;
  }
}

}  // namespace
}  // namespace mangrove::agent
