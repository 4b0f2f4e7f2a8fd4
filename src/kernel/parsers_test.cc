// Parsers of kernel files over the numbered cases of the behaviour spec and over real texts.
#include <gtest/gtest.h>

#include "kernel/cgroup_stat.h"
#include "kernel/cpu_info.h"
#include "kernel/io_stat.h"
#include "kernel/meminfo.h"
#include "kernel/pressure.h"
#include "kernel/proc_stat.h"

namespace mangrove::kernel {
namespace {

using enum CgroupVersion;

TEST(ProcStat, BusyTicksLeaveOutIdleIowaitAndSteal) {
  EXPECT_EQ(nodeTicks("cpu  514003 37519 593580 1706155242 5134 45033 38832 0 0 0\n")->busy,
            1228967u);
  std::vector<std::pair<int, uint64_t>> got;
  const auto keep = [&](int cpu, Ticks t) { got.emplace_back(cpu, t.busy); };
  ASSERT_TRUE(
      perCpuTicks("cpu  1 1 1 1 1 1 1\ncpu0 9755 845 15540 26635869 3021 2312 9724 0 0 0\n"
                  "cpu1 10075 664 10790 26653871 214 973 1163\nintr 5\n",
                  keep));
  EXPECT_EQ(got, (std::vector<std::pair<int, uint64_t>>{{0, 38176}, {1, 23665}}));
}

TEST(ProcStat, RefusesWhatIsNoStat) {
  const auto ignore = [](int, Ticks) {};
  EXPECT_TRUE(nodeTicks("cpu  1 1 1 1 1 1 1\n"));
  EXPECT_FALSE(perCpuTicks("cpu  1 1 1 1 1 1 1\n", ignore));
  EXPECT_FALSE(perCpuTicks("cpu0 9755 845 bad 1 1 1 1\n", ignore));
  EXPECT_FALSE(perCpuTicks("cpu-1 1 1 1 1 1 1 1\n", ignore));
  for (const char* text :
       {"", "cpu", "cpu 1 2 3", "cpu -1 1 1 1 1 1 1", "cpu 18446744073709551615 1 1 1 1 1 1",
        "cpu 1 1 1 1 1 1 1e9", "\xff\xfe"})
    EXPECT_FALSE(nodeTicks(text)) << text;
}

MemInfo node(int64_t totalKb, int64_t freeKb, int64_t activeKb, int64_t inactiveKb,
             int64_t slabKb) {
  return *parseMemInfo(
      fmt::format("Node 0 MemTotal: {} kB\nNode 0 MemFree: {} kB\n"
                  "Node 0 Active(file): {} kB\nNode 0 Inactive(file): {} kB\n"
                  "Node 0 SReclaimable: {} kB\n",
                  totalKb, freeKb, activeKb, inactiveKb, slabKb));
}

TEST(MemInfo, UsageOfTheNode) {
  auto info = parseMemInfo(
      "MemTotal:       263432804 kB\nMemFree:        254391744 kB\nMemAvailable:   256703236 kB\n"
      "HugePages_Total:   0\nDirectMap4k: x\n");
  ASSERT_TRUE(info);
  EXPECT_EQ(usedWithoutCache(*info)->v, 6891077632);
  EXPECT_EQ(usedWithCache(*info).v, 9258045440);
  EXPECT_EQ(usedWithHotCache(*info, Bytes{100}).v, 9258045340);
  EXPECT_EQ(usedWithHotCache(*info, kGiB * 100).v, 0);
  info = parseMemInfo("MemTotal: 1048576 kB\nMemFree: 0 kB\nMemAvailable: 524288 kB\n");
  EXPECT_EQ(usedWithoutCache(*info)->v, 536870912);
}

TEST(MemInfo, UsageOfNumaNodes) {
  EXPECT_EQ(numaUsed(node(1048576, 262144, 131072, 131072, 65536)).v, 469762048);
  EXPECT_EQ(numaUsed(node(1048576, 524288, 65536, 65536, 0)).v, 402653184);
  EXPECT_EQ(numaUsed(node(1048576, 1048576, 1, 0, 0)).v, 0);
}

TEST(MemInfo, RefusesWhatCannotBe) {
  for (const char* text :
       {"", "MemTotal: 5 kB\n", "MemTotal:\nMemFree: 1 kB\n", "MemTotal: -5 kB\nMemFree: 1 kB\n",
        "MemTotal: 5 kB\nMemFree: 6 kB\n", "MemTotal: 99999999999999999999 kB\nMemFree: 1 kB\n",
        "MemTotal: 5 kB\nMemFree: 5 kB\nMemAvailable: many kB\n"})
    EXPECT_FALSE(parseMemInfo(text)) << text;
  const auto info = parseMemInfo("MemTotal: 5 kB\nMemFree: 5 kB\nMemAvailable: 6 kB\n");
  EXPECT_FALSE(usedWithoutCache(*info));
  EXPECT_FALSE(usedWithoutCache(*parseMemInfo("MemTotal: 5 kB\nMemFree: 5 kB\n")));
}

TEST(CgroupStat, CpuUsage) {
  EXPECT_EQ(parseCpuUsage("1000000000\n", kV1)->count(), 1000000000);
  EXPECT_EQ(parseCpuUsage("usage_usec 1000000\nuser_usec 1\n", kV2)->count(), 1000000000);
  for (const char* text : {"", "x", "-1", "99999999999999999999", "1 2"})
    EXPECT_FALSE(parseCpuUsage(text, kV1)) << text;
  for (const char* text : {"", "usage_usec", "usage_usec -1", "usage_usec 9223372036854775807"})
    EXPECT_FALSE(parseCpuUsage(text, kV2)) << text;
}

TEST(CgroupStat, Throttling) {
  const auto v2 = parseThrottling("nr_periods 10\nnr_throttled 2\nthrottled_usec 5\n", kV2);
  ASSERT_TRUE(v2);
  EXPECT_EQ(v2->throttledTime.count(), 5000);
  EXPECT_FALSE(parseThrottling("usage_usec 1\n", kV2));
  EXPECT_TRUE(parseCpuUsage("usage_usec 1\n", kV2));
  const auto at = [](int64_t periods, int64_t throttled) {
    return CpuThrottling{periods, throttled, {}};
  };
  EXPECT_EQ(throttledRatio(at(0, 0), at(100, 50)), 0.5);
  EXPECT_EQ(throttledRatio(at(5, 0), at(5, 3)), 0);
  EXPECT_EQ(throttledRatio(at(5, 0), at(4, 3)), 0);
  EXPECT_EQ(parseRunQueueWait("nr_periods 0\nwait_sum 77\n")->count(), 77);
  EXPECT_EQ(parseRunQueueWait("nr_periods 0\n"), std::nullopt);
}

TEST(CgroupStat, MemoryOfBothVersions) {
  const auto v1 = parseMemoryStat(
      "cache 1\ntotal_cache 0\ntotal_rss 0\ntotal_inactive_anon 104857600\ntotal_active_anon 0\n"
      "total_inactive_file 104857600\ntotal_active_file 0\ntotal_unevictable 0\n",
      kV1);
  ASSERT_TRUE(v1);
  EXPECT_EQ(v1->withoutCache.v, 104857600);
  EXPECT_EQ(v1->withCache.v, 209715200);
  const auto v2 = parseMemoryStat(
      "file 100\nanon 200\ninactive_file 50\nactive_file 60\ninactive_anon 70\nactive_anon 80\n"
      "unevictable 10\n",
      kV2);
  ASSERT_TRUE(v2);
  EXPECT_EQ(v2->withoutCache.v, 160);
  EXPECT_EQ(v2->withCache.v, 270);
  EXPECT_FALSE(parseMemoryStat("file 100\nanon 200\n", kV2));
  EXPECT_FALSE(parseMemoryStat(
      "file 1\nanon 2\ninactive_file 5\nactive_file 6\ninactive_anon -7\nactive_anon 8\n"
      "unevictable 1\n",
      kV2));
}

TEST(CgroupStat, Limits) {
  EXPECT_EQ(*parseMemoryLimit("9223372036854771712\n", kV1), -1);
  EXPECT_EQ(*parseMemoryLimit("max\n", kV2), -1);
  EXPECT_EQ(*parseMemoryLimit("4096\n", kV2), 4096);
  EXPECT_EQ(parseMemoryCurrent("max")->v, std::numeric_limits<int64_t>::max());
  EXPECT_FALSE(parseMemoryLimit("", kV2));
  EXPECT_FALSE(parseMemoryLimit("-5", kV1));
  EXPECT_EQ(*parseCpuMax("max 100000").quota, CpuQuota::none());
  EXPECT_EQ(parseCpuMax("999999 100000").quota->us(), 999999);
  EXPECT_EQ(parseCpuMax("0 100000").quota->us(), 0);
  EXPECT_FALSE(parseCpuMax("100000").quota);
  EXPECT_TRUE(parseCpuMax("100000 x").quota);
  EXPECT_FALSE(parseCpuMax("100000 x").periodUs);
}

TEST(CgroupStat, NumaPagesAndBytes) {
  auto v1 = parseNumaStat(
      "total=42227 N0=42184 N1=43\nfile=1 N0=1 N1=0\nanon=2 N0=1 N1=1\nunevictable=0 N0=0 N1=0\n"
      "hierarchical_anon=9 N0=4 N1=5\n",
      kV1, Bytes{65536});
  ASSERT_TRUE(v1);
  EXPECT_EQ(v1->count, 2u);
  EXPECT_EQ(v1->nodes[0].pages, 42184);
  EXPECT_EQ(v1->nodes[1].pages, 43);
  EXPECT_EQ(v1->nodes[1].anon.v, 5 * 65536);
  auto v2 = parseNumaStat("anon N0=12345 N1=67890\nfile N0=10000 N1=20000\nunevictable N0=1 N1=2\n",
                          kV2, Bytes{4096});
  ASSERT_TRUE(v2);
  EXPECT_EQ(v2->nodes[0].pages, 5);
  EXPECT_EQ(v2->nodes[1].pages, 20);
  EXPECT_EQ(v2->nodes[1].anon.v, 67890);
  EXPECT_EQ(v2->nodes[1].unevictable.v, 2);
  for (const char* text : {"", "file=3 N0=3\n", "total=1 N3-123\n", "total=1 N9999999999=1\n"})
    EXPECT_FALSE(parseNumaStat(text, kV1, Bytes{4096})) << text;
  for (const char* text : {"", "anon N0=1\n", "anon N0=1 N2=1\nfile N0=1 N2=1\n",
                           "file N0=1\nanon N0=1\n", "anon N0=1\nfile N0=1 N1=2\n"})
    EXPECT_FALSE(parseNumaStat(text, kV2, Bytes{4096})) << text;
}

std::string idlePages(int lines) {
  std::string text =
      "# version: 1.0\n# page_scans: 24\n# slab_scans: 0\n"
      "# scan_period_in_seconds: 5\n# use_hierarchy: 1\n# buckets: 1,2,5,15,30,60,120,240\n";
  for (int i = 6; i < 14; ++i) text += "#\n";
  const char* names[] = {"csei", "dsei", "cfei", "dfei", "csui", "dsui", "cfui", "dfui", "csea",
                         "dsea", "cfea", "dfea", "csua", "dsua", "cfua", "dfua", "slab"};
  for (int i = 14; i < lines; ++i) {
    const std::string name = names[i - 14];
    text += name + (name == "cfei" ? " 2633728 4640768 66531328 340172800 52834304 52834304 0 0\n"
                                   : " 0 0 0 0 0 0 0 0\n");
  }
  return text;
}

TEST(CgroupStat, ColdPages) {
  EXPECT_EQ(parseColdPages(idlePages(31), 5)->v, 52834304);
  EXPECT_EQ(parseColdPages(idlePages(31), 3)->v, 445841408);
  EXPECT_FALSE(parseColdPages(idlePages(30)));
  EXPECT_FALSE(parseColdPages(""));
}

TEST(CgroupStat, InputAndOutput) {
  EXPECT_EQ(*parseIoStat("8:0 rbytes=5 wbytes=6 rios=1 wios=2 dbytes=0\n8:16 rbytes=5 wbytes=0\n"),
            (IoTotals{10, 6, 1, 2}));
  EXPECT_FALSE(parseIoStat("8:0 rbytes=x\n"));
  EXPECT_EQ(*parseBlkioBytes("8:0 Read 5\n8:0 Write 6\n8:0 Total 11\nTotal 11\n"),
            (IoTotals{5, 6, 0, 0}));
  EXPECT_EQ(parseMemoryEvents("low 1\nhigh 2\nmax 3\noom 4\noom_kill 5\n")->oomKill, 5u);
}

TEST(Pressure, BothFormsAndGarbage) {
  const auto one = parsePressure("some avg10=1.50 avg60=0.70 avg300=0.10 total=42\n");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->some.avg10, 1.5);
  EXPECT_EQ(one->some.total, std::chrono::microseconds(42));
  EXPECT_FALSE(one->fullSupported);
  EXPECT_EQ(one->full, Stall{});
  for (const char* text :
       {"", "foo avg10=1 avg60=1 avg300=1 total=1\n", "some\n",
        "full avg10=1 avg60=1 avg300=1 total=1\n", "some avg10=nan avg60=1 avg300=1 total=1\n",
        "some avg10=1 avg60=1 avg300=1 total=99999999999999999999\n"})
    EXPECT_FALSE(parsePressure(text)) << text;
}

TEST(IoStat, DisksAndInterfaces) {
  std::string names;
  ASSERT_TRUE(
      eachDisk("   8       0 sda 10 1 20 5 30 2 40 6 0 7 8 0 0 0 0\n", [&](const DiskTotals& d) {
        names += d.name;
        EXPECT_EQ(d.readSectors, 20u);
        EXPECT_EQ(d.writeSectors, 40u);
        EXPECT_EQ(d.busyMs, 7u);
      }));
  ASSERT_TRUE(
      eachInterface("Inter-| Receive\n face |bytes\n  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13\n",
                    [&](const NetTotals& n) {
                      names += n.name;
                      EXPECT_EQ(n.txBytes, 9u);
                    }));
  EXPECT_EQ(names, "sdaeth0");
  EXPECT_FALSE(parseDiskLine("8 0 sda 1 2"));
  EXPECT_FALSE(parseNetLine("eth0 1 2"));
}

TEST(CpuInfo, FirstProcessorOnly) {
  const auto info = parseCpuInfo(
      "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Xeon\nflags\t\t: fpu mba cat_l3\n\n"
      "processor\t: 1\nmodel name\t: Other\n");
  EXPECT_EQ(info.modelName, "Xeon");
  EXPECT_TRUE(info.hasFlag("cat_l3"));
  EXPECT_FALSE(info.hasFlag("cat"));
}

TEST(ProcStat, InterruptsPerCpu) {
  const auto found = interruptTicks(
      "cpu  9 9 9 9 9 9 9\ncpu0 10 0 20 60 5 2 3 0 0 0\ncpu1 1 1 1 1 1 1\ncpux 1 1 1 1 1 1 1\n"
      "cpu12 0 0 0 0 0 0 7\nintr 5\n");
  EXPECT_EQ(found, (std::map<int, InterruptTicks>{{0, {5, 100}}, {12, {7, 7}}}))
      << "short and nameless lines are left out";
}

}  // namespace
}  // namespace mangrove::kernel
