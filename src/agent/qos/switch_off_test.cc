// docs/operating.md promises that a strategy can be switched off by its key of the NodeSLO. For each
// strategy of the list: what switches it on, that it then does something, and that nothing is left
// of it a second after the key says off. Those without a key of their own are named with theirs.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "agent/qos/strategy_list.h"
#include "agent/qos/testing/fake_tools.h"
#include "agent/qos/testing/machine_bench.h"

namespace mangrove::agent {
namespace {

using testing::FakeCookies;
using testing::FakeShaper;
using testing::MachineBench;

struct Bench : MachineBench {
  explicit Bench(const char* machine)
      : MachineBench(std::string(MANGROVE_SOURCE_DIR "/test/machines/") + machine) {
    tools = {&cookies, &shaper};
  }
  FakeCookies cookies;
  FakeShaper shaper;
};

struct Row {
  const char* name;
  const char* machine;
  std::vector<const char*> gates;
  std::string on, off;  // members of the NodeSLO
  int secondsOn = 3;
};

const char* const kV2 = "v2-2socket-smt";
const char* const kAnolis = "anolis-v1-resctrl";
const char* const kThreshold = R"("resourceUsedThresholdWithBE":{"enable":true)";
const char* const kNoThreshold = R"("resourceUsedThresholdWithBE":{"enable":false)";

// One block of the three classes, on or off.
std::string classes(const std::string& block, bool on, const std::string& more = "",
                    const std::string& policies = "{}") {
  std::string out = R"("resourceQOSStrategy":{"policies":)" + policies;
  for (const char* name : {"lsrClass", "lsClass", "beClass", "cgroupRoot"})
    out += std::string(R"(,")") + name + R"(":{")" + block + R"(":{"enable":)" +
           (on ? "true" : "false") + more + "}}";
  return out + "}";
}

std::vector<Row> rows() {
  const std::string disk =
      R"(,"blocks":[{"name":"/dev/sda","type":"device","ioCfg":{"readBPS":1048576}}])";
  const std::string core = R"({"cpuPolicy":"coreSched"})";
  const std::string link = R"("systemStrategy":{"totalNetworkBandwidth":"1G"},)";
  const std::string threshold = kThreshold, none = kNoThreshold;
  return {
      {"kernel-floor", kV2, {}, threshold + "}", none + "}"},
      {"cpu-suppress",
       kV2,
       {},
       threshold + R"(,"cpuSuppressPolicy":"cfsQuota"})",
       none + R"(,"cpuSuppressPolicy":"cfsQuota"})"},
      {"group-identity", kAnolis, {}, classes("cpuQOS", true), classes("cpuQOS", false)},
      {"cpu-burst",
       kV2,
       {},
       R"("cpuBurstStrategy":{"policy":"cpuBurstOnly"})",
       R"("cpuBurstStrategy":{"policy":"none"})"},
      {"memory-qos",
       kV2,
       {"CgroupReconcile=true", "KernelFloor=false"},
       classes("memoryQOS", true, R"(,"minLimitPercent":100)"),
       classes("memoryQOS", false, R"(,"minLimitPercent":100)")},
      {"oom-score", kV2, {}, threshold + "}", none + "}"},
      {"resctrl",
       kAnolis,
       {},
       classes("resctrlQOS", true, R"(,"catRangeEndPercent":50)"),
       classes("resctrlQOS", false, R"(,"catRangeEndPercent":50)")},
      {"blkio",
       kV2,
       {"BlkIOReconcile=true"},
       classes("blkioQOS", true, disk),
       classes("blkioQOS", false, disk)},
      {"system-config",
       kV2,
       {"SystemConfig=true"},
       R"("systemStrategy":{"watermarkScaleFactor":150})",
       R"("systemStrategy":{})"},
      {"core-sched",
       kV2,
       {"CoreSched=true", "KernelFloor=false", "GroupIdentity=false"},
       classes("cpuQOS", true, R"(,"schedIdle":1)", core),
       classes("cpuQOS", false, R"(,"schedIdle":1)", core)},
      {"network-qos",
       kV2,
       {"TCNetworkQoS=true"},
       link + classes("networkQOS", true),
       link + classes("networkQOS", false)},
      {"terway-qos",
       kV2,
       {"TerwayQoS=true"},
       link + classes("networkQOS", true, "", R"({"netQOSPolicy":"terway-qos"})"),
       link + classes("networkQOS", true, "", R"({"netQOSPolicy":"tc"})")},
      {"memory-evict",
       "v1-2core-vm",
       {"BEMemoryEvict=true"},
       threshold + R"(,"memoryEvictThresholdPercent":50})",
       none + R"(,"memoryEvictThresholdPercent":50})"},
      {"cpu-evict",
       kV2,
       {"CPUEvict=true"},
       threshold + R"(,"cpuEvictThresholdPercent":2,"evictEnabledPriorityThreshold":9999})",
       none + R"(,"cpuEvictThresholdPercent":2,"evictEnabledPriorityThreshold":9999})",
       60},
  };
}

// Decided by annotations of pods or of the Node, and switched by their gate.
const std::map<std::string_view, std::string_view> kByGate = {
    {"cpuset-hook", "CPUSetAllocator"},
    {"batch-resource", "BatchResource"},
    {"cpu-normalization", "CPUNormalization"},
    {"pod-resctrl", "Resctrl"},
    {"cold-scan", "ColdPageCollector"},
    {"watermark-evict", "WatermarkEvict"},
    {"crane-qos", "CraneQoS"},
    {"yarn", "YarnNodeManager"},
    {"interference", ""},  // gates of its parts
};

void populate(Bench& bench) {
  const std::string amounts = R"({"requests":{"cpu":"1","memory":"1Gi"},)"
                              R"("limits":{"cpu":"2","memory":"2Gi"}})";
  bench.fs.write("sys/block/sda/dev", "8:0\n");
  bench.fs.write("proc/sys/vm/watermark_scale_factor", "10\n");
  bench.fs.write("proc/net/route", "Iface\teth0\nnic7\t00000000\t0\t3\t0\t0\t0\t00000000\t0\t0\n");
  for (const char* group : {"LSR", "LS", "BE"}) {
    const std::string dir = std::string("sys/fs/resctrl/") + group;
    bench.fs.write(dir + "/schemata", "    MB:0=100\n    L3:0=fff\n");
    bench.fs.write(dir + "/tasks", "");
  }
  bench.pod({.name = "own", .tier = "guaranteed", .qos = "LSR", .resources = amounts});
  bench.pod({.name = "web", .qos = "LS", .resources = amounts});
  bench.pod({.name = "job",
             .tier = "besteffort",
             .qos = "BE",
             .labels = R"(,"koordinator.sh/eviction-enabled":"true")"});
  bench.threads("job", "41");
  bench.fs.write("proc/41/oom_score_adj", "500\n");
  for (const char* pod : {"own", "web", "job"}) bench.use(pod, 1);
  bench.hold("job", int64_t{20} << 30);
}

// What a strategy has changed on the machine, in words; "": nothing.
std::string traces(Bench& bench, std::string_view name) {
  for (const auto& [key, held] : bench.enforcer->executor().held())
    if (held.owner == name && held.wanted != held.before)
      return key.cgroup + " " + std::string(key.resource);
  const json::Value told = bench.enforcer->explain();
  for (const json::Value& deed : told.at("deeds").as_array())
    if (deed.at("owner") == json::Value(name)) return json::write(deed);
  if (name.ends_with("-evict") && !bench.evicted.empty()) return "an eviction";
  return "";
}

TEST(SwitchOff, EveryStrategyByItsKeyOfTheNodeSlo) {
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.name);
    Bench bench(row.machine);
    for (const char* gate : row.gates) ASSERT_TRUE(bench.gate(gate)) << gate;
    populate(bench);
    bench.slo(row.on);
    bench.start();
    bench.seconds(row.secondsOn);
    EXPECT_NE(traces(bench, row.name), "")
        << "it does nothing when it is on: " << json::write(bench.enforcer->explain());
    bench.evicted.clear();
    bench.slo(row.off);
    bench.seconds(11);  // the longest period of a strategy, and one
    EXPECT_EQ(traces(bench, row.name), "") << "is left although it is off";
  }
}

TEST(SwitchOff, EveryStrategyHasASwitch) {
  std::set<std::string_view> known;
  for (const Row& row : rows()) known.insert(row.name);
  for (const auto& one : defaultStrategies()) {
    const StrategyInfo info = one->info();
    const auto gate = kByGate.find(info.name);
    const bool byGate = gate != kByGate.end();
    EXPECT_TRUE(!byGate || info.gate == gate->second) << info.name << " has " << info.gate;
    EXPECT_NE(known.contains(info.name), byGate)
        << info.name << ": add a row that switches it on and off, or name its gate";
  }
}

}  // namespace
}  // namespace mangrove::agent
