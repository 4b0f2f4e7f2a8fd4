// What is done for services' memory before any of it runs short: the floor's protection, and
// wmarkMinAdj with and without a kernel that knows it.
#include <gtest/gtest.h>

#include "agent/qos/memory_qos/values.h"
#include "agent/qos/testing/machine_bench.h"

namespace mangrove::agent {
namespace {

using testing::MachineBench;

std::string machineDir(const char* name) {
  return std::string(MANGROVE_SOURCE_DIR) + "/test/machines/" + name;
}

const char* const kOn = R"("resourceUsedThresholdWithBE":{"enable":true})";
const char* const kOff = R"("resourceUsedThresholdWithBE":{"enable":false})";
const char* const kGiB = R"({"requests":{"memory":"1Gi"}})";

void addPods(MachineBench& bench) {
  bench.pod({.name = "web", .qos = "LS", .resources = kGiB});
  bench.pod({.name = "db", .tier = "guaranteed", .qos = "LSR", .resources = kGiB});
  bench.pod({.name = "odd", .qos = "BE", .resources = kGiB});
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.pod({.name = "proxy", .tier = "besteffort"});
}

TEST(MemoryFloor, ServicesKeepWhatTheyAskedFor) {
  MachineBench bench(machineDir("v2-2socket-smt"));
  bench.slo(kOn);
  addPods(bench);
  bench.start();
  bench.seconds(2);
  for (const char* group : {"web", "web/c", "db", "db/c", "LS"})
    EXPECT_EQ(bench.read(group, "memory.low"), "1073741824") << group;
  EXPECT_EQ(bench.read("kubepods.slice", "memory.low"), "2147483648") << "the sum of both";
  EXPECT_EQ(bench.read("odd", "memory.low"), "0") << "batch work is not protected";
  EXPECT_EQ(bench.read("job", "memory.oom.group"), "1");
  EXPECT_EQ(bench.read("proxy", "memory.oom.group"), "0") << "not labelled";
  bench.slo(kOff);
  bench.seconds(1);
  EXPECT_EQ(bench.read("web", "memory.low"), "0") << "colocation is off";
  EXPECT_EQ(bench.read("job", "memory.oom.group"), "0");
}

TEST(MemoryFloor, WhatTheNodeSloSaysGoesFirst) {
  MachineBench bench(machineDir("v2-2socket-smt"));
  ASSERT_TRUE(bench.gate("CgroupReconcile=true"));
  bench.slo(std::string(kOn) +
            R"(,"resourceQOSStrategy":{"lsClass":{"memoryQOS":{"enable":true,)"
            R"("lowLimitPercent":50}},"beClass":{"memoryQOS":{"enable":true,"oomKillGroup":0}}})");
  addPods(bench);
  bench.start();
  bench.seconds(2);
  EXPECT_EQ(bench.read("web", "memory.low"), "536870912");
  EXPECT_EQ(bench.read("job", "memory.oom.group"), "0");
}

TEST(MemoryGrading, OfAShareOfTheRequest) {
  struct Row {
    std::optional<int64_t> adjust, low;
    std::optional<int64_t> want;
  };
  for (const Row& row :
       {Row{-25, {}, 100}, Row{-10, {}, 40}, Row{-10, 60, 60}, Row{0, {}, {}}, Row{{}, 30, 30},
        Row{-25, 0, 0}, Row{50, {}, {}}, Row{50, 30, 0}, Row{25, 30, 15}, Row{-99, {}, 100}}) {
    api::MemoryQos qos;
    qos.wmarkMinAdj = row.adjust;
    if (row.low) qos.lowLimitPercent = Percent{*row.low};
    const auto low = gradedByLow(qos).lowLimitPercent;
    EXPECT_EQ(low ? std::optional(low->v) : std::nullopt, row.want)
        << row.adjust.value_or(0) << " " << row.low.value_or(-1);
  }
}

// Nothing is protected where somebody said so, in the NodeSLO or on the pod.
TEST(MemoryGrading, ZeroThatWasSaidGoesFirst) {
  MachineBench bench(machineDir("v2-2socket-smt"));
  ASSERT_TRUE(bench.gate("CgroupReconcile=true"));
  ASSERT_TRUE(bench.gate("KernelFloor=false"));
  const char* const kSaid =
      R"("resourceQOSStrategy":{"lsClass":{"memoryQOS":{"enable":true,"lowLimitPercent":0}}})";
  const char* const kUnsaid = R"("resourceQOSStrategy":{"lsClass":{"memoryQOS":{"enable":true}}})";
  bench.slo(kSaid);
  addPods(bench);
  bench.pod({.name = "own",
             .qos = "LS",
             .resources = kGiB,
             .annotations = R"({"koordinator.sh/memoryQOS":"{\"lowLimitPercent\":0}"})"});
  bench.start();
  bench.seconds(2);
  EXPECT_EQ(bench.read("web", "memory.low"), "0");
  EXPECT_EQ(bench.read("LS", "memory.low"), "0");
  bench.slo(kUnsaid);
  bench.seconds(2);
  EXPECT_EQ(bench.read("web", "memory.low"), "1073741824") << "stands in for the watermark";
  EXPECT_EQ(bench.read("own", "memory.low"), "0") << "the pod's annotation";
}

// What the kernel does itself is not done a second time.
TEST(MemoryGrading, ByTheKernelOrByProtection) {
  const auto run = [](MachineBench& bench) {
    ASSERT_TRUE(bench.gate("CgroupReconcile=true"));
    bench.slo(R"("resourceQOSStrategy":{"lsClass":{"memoryQOS":{"enable":true,"wmarkMinAdj":-25}},)"
              R"("beClass":{"memoryQOS":{"enable":true,"wmarkMinAdj":50}}})");
    addPods(bench);
    bench.start();
    bench.seconds(2);
  };
  MachineBench plain(machineDir("v2-2socket-smt"));
  run(plain);
  EXPECT_EQ(plain.read("web", "memory.low"), "1073741824");
  EXPECT_EQ(plain.read("LS", "memory.low"), "1073741824");
  EXPECT_EQ(plain.read("job", "memory.low"), "0");
  MachineBench anolis(machineDir("anolis-v1-resctrl"));
  const std::string low = anolis.read("LS", "memory.low");
  run(anolis);
  EXPECT_EQ(anolis.read("web", "memory.wmark_min_adj"), "-25");
  EXPECT_EQ(anolis.read("web/c", "memory.wmark_min_adj"), "-25");
  EXPECT_EQ(anolis.read("job", "memory.wmark_min_adj"), "50");
  EXPECT_EQ(anolis.read("LS", "memory.low"), low) << "the kernel's own watermark does it";
}

}  // namespace
}  // namespace mangrove::agent
