#include "kernel/traffic_stat.h"

#include <gtest/gtest.h>

#include "kernel/perf_group.h"

namespace mangrove::kernel {
namespace {

TEST(IoServed, OfBothVersions) {
  const char* v1 = "8:0 Read 100\n8:0 Write 20\n8:0 Total 120\n8:16 Read 1\nTotal 121\n";
  EXPECT_EQ(parseIoServed(v1, CgroupVersion::kV1), 121u);
  EXPECT_EQ(parseIoServed("", CgroupVersion::kV1), 0u);
  EXPECT_FALSE(parseIoServed("8:0 Read x\n", CgroupVersion::kV1));
  const char* v2 =
      "8:0 rbytes=100 wbytes=20 rios=1 wios=1 dbytes=9 dios=0\n8:16 rbytes=1 wbytes=0\n";
  EXPECT_EQ(parseIoServed(v2, CgroupVersion::kV2), 121u);
  EXPECT_EQ(parseIoServed("", CgroupVersion::kV2), 0u);
  EXPECT_FALSE(parseIoServed("8:0 rbytes=-1\n", CgroupVersion::kV2));
}

TEST(TcpSegments, ByName) {
  const char* text =
      "Ip: Forwarding DefaultTTL\nIp: 1 64\n"
      "Tcp: RtoAlgorithm ActiveOpens InSegs OutSegs RetransSegs InErrs\nTcp: 1 2 300 400 5 0\n";
  EXPECT_EQ(parseTcpSegments(text), (TcpSegments{400, 5}));
  for (const char* bad :
       {"", "Tcp: OutSegs RetransSegs\n", "Tcp: OutSegs\nTcp: 4\n",
        "Tcp: OutSegs RetransSegs\nTcp: 4\n", "Tcp: OutSegs RetransSegs\nTcp: a b\n"})
    EXPECT_FALSE(parseTcpSegments(bad)) << bad;
}

TEST(PerfReadings, OptionalEventsAndWhatWasCounted) {
  const PerfCounts all = scaled({5, 1000, 500, {10, 20, 3, 4, 2'000'000'000}});
  EXPECT_EQ(all.cycles, 20);
  EXPECT_EQ(all.cacheMisses, 6);
  EXPECT_EQ(all.stallCycles, 8);
  EXPECT_EQ(all.cpuSeconds, 4);
  EXPECT_EQ(all.counted, 0.5);
  const PerfCounts two = scaled({2, 1000, 1000, {10, 20}});
  EXPECT_FALSE(two.cacheMisses || two.stallCycles || two.cpuSeconds);
  EXPECT_EQ(scaled({2, 1000, 0, {10, 20}}).counted, 0) << "the hardware was never free";
  EXPECT_EQ(scaled({2, 0, 0, {0, 0}}).counted, 1) << "it had nothing to count";
  const PerfCounts later = scaled({5, 1000, 500, {30, 60, 4, 4, 2'000'000'000}}) - all;
  EXPECT_EQ(later.cycles, 40);
  EXPECT_EQ(later.cacheMisses, 2);
  EXPECT_EQ(later.stallCycles, 0);
}

}  // namespace
}  // namespace mangrove::kernel
