// What this hardware does not have, through stand-ins at the kernel's seam: counters of cycles,
// cookies of core scheduling, resctrl of several processors, triggers of pressure. Each runs in the
// whole agent over a captured machine.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/executor/owners.h"
#include "agent/pressure/sentinel.h"
#include "agent/pressure/strategy.h"
#include "agent/qos/testing/fake_tools.h"
#include "agent/qos/testing/machine_bench.h"
#include "agent/testing/moving.h"
#include "agent/testing/scene.h"
#include "kernel/mount_seam.h"
#include "kernel/perf_group.h"
#include "kernel/perf_seam.h"
#include "kernel/psi_seam.h"

namespace mangrove::agent {
namespace {

using namespace std::chrono_literals;
using testing::FakeCookies;
using testing::MachineBench;
using testing::Moving;
using testing::Scene;

const std::string kMachines = MANGROVE_SOURCE_DIR "/test/machines/";

bool hasLine(const std::vector<std::string>& log, const std::string& part) {
  return std::any_of(log.begin(), log.end(),
                     [&](const std::string& line) { return line.find(part) != line.npos; });
}
std::string joined(const std::vector<std::string>& log) {
  std::string out;
  for (const std::string& line : log) out += line + "\n";
  return out;
}

// ---- cycles ----------------------------------------------------------------------------------

int openCounters = 0;

// 1 000 cycles and 400 instructions on each CPU, counted half of the time.
UniqueFd standInCounter(uint64_t event, int, int, int leader) {
  const bool isSecond = event == PERF_COUNT_HW_INSTRUCTIONS;
  if (isSecond != (leader >= 0)) return UniqueFd();
  UniqueFd fd(::memfd_create("counter", MFD_CLOEXEC));
  const kernel::PerfReading reading{2, 20, 10, {500, 200}};
  if (::pwrite(fd.get(), &reading, sizeof reading, 0) != sizeof reading) return UniqueFd();
  ++openCounters;
  return fd;
}

TEST(StandIns, CyclesAndInstructionsOfContainers) {
  Moving machine(kMachines + "v2-2socket-smt");
  machine.files().write("live-facts", "perf\n");
  kernel::setOpenCounter(&standInCounter);
  openCounters = 0;
  AgentOptions options;
  options.collect.cpi = true;
  options.collect.cpiInterval = 10s;
  options.collect.cpiWindow = 3s;
  Scene scene(machine.path(), options);
  scene.put("Node", testing::nodeJson("n1", "16", "64Gi"));
  for (int i = 1; i <= 3; ++i)
    scene.put("Pod", testing::podJson(fmt::format("pod{}", i),
                                      fmt::format("0a1b2c3d-0000-4000-8000-00000000000{}", i)));
  scene.start();
  scene.ticks(7, [&](int) { machine.second(); });
  size_t counted = 0;
  for (const PodLook& pod : scene.look().pods)
    for (const ContainerLook& one : pod.containers) {
      if (!one.counts) continue;
      ++counted;
      const auto cpus = static_cast<double>(scene.look().machine->cpus().online.size());
      EXPECT_EQ(one.counts->cycles, 1000 * cpus) << "scaled up for the time they did not run";
      EXPECT_EQ(one.counts->instructions, 400 * cpus);
    }
  EXPECT_GT(counted, 0u);
  EXPECT_EQ(openCounters % 2, 0) << "two for each CPU and container";
  kernel::setOpenCounter(nullptr);
}

// A processor that counts everything, a third of the time; the leader reads for all.
UniqueFd standInFive(uint64_t, int, int, int leader) {
  UniqueFd fd(::memfd_create("counter", MFD_CLOEXEC));
  const kernel::PerfReading reading{5, 30, 10, {500, 200, 4, 50, 1'000'000'000}};
  if (leader < 0 && ::pwrite(fd.get(), &reading, sizeof reading, 0) != sizeof reading)
    return UniqueFd();
  return fd;
}

TEST(StandIns, MissesAndStallsOfContainers) {
  Moving machine(kMachines + "v2-2socket-smt");
  machine.files().write("live-facts", "perf\n");
  kernel::setOpenCounter(&standInFive);
  AgentOptions options;
  options.collect.cpi = true;
  options.collect.cpiInterval = 10s;
  options.collect.cpiWindow = 3s;
  Scene scene(machine.path(), options);
  scene.put("Node", testing::nodeJson("n1", "16", "64Gi"));
  scene.put("Pod", testing::podJson("pod1", "0a1b2c3d-0000-4000-8000-000000000001"));
  scene.start();
  scene.ticks(7, [&](int) { machine.second(); });
  std::set<std::string, std::less<>> ids;
  for (const PodLook& pod : scene.look().pods)
    for (const ContainerLook& one : pod.containers) {
      if (!one.counts) continue;
      ids.insert(std::string(one.id));
      const auto cpus = static_cast<double>(scene.look().machine->cpus().online.size());
      EXPECT_NEAR(one.counts->cacheMisses.value_or(0), 12 * cpus, 1e-6);
      EXPECT_NEAR(one.counts->stallCycles.value_or(0), 150 * cpus, 1e-6);
      EXPECT_NEAR(one.counts->cpuSeconds.value_or(0), 3 * cpus, 1e-6);
      EXPECT_NEAR(one.counts->counted, 1.0 / 3, 1e-9);
      EXPECT_EQ(one.counts->window, 3s);
      EXPECT_FALSE(one.lately) << "nobody watches it";
    }
  ASSERT_FALSE(ids.empty());
  scene.agent().watchCounters(ids);
  // Opened, read once, read again; and looks are taken before the counters of their tick.
  scene.ticks(4, [&](int) { machine.second(); });
  size_t watched = 0;
  for (const PodLook& pod : scene.look().pods)
    for (const ContainerLook& one : pod.containers)
      if (one.lately) {
        ++watched;
        EXPECT_EQ(one.lately->window, 1s);
      }
  EXPECT_EQ(watched, ids.size()) << "read at every tick";
  kernel::setOpenCounter(nullptr);
}

// ---- cookies ---------------------------------------------------------------------------------

const char* const kCoreSched =
    R"("resourceQOSStrategy":{"policies":{"cpuPolicy":"coreSched"},"lsClass":{"cpuQOS":{)"
    R"("enable":true,"coreExpeller":true}},"beClass":{"cpuQOS":{"enable":true,"schedIdle":1}}})";

TEST(StandIns, ServicesAndBatchWorkNeverShareACore) {
  MachineBench bench(kMachines + "v2-2socket-smt");
  bench.fs.write("live-facts", "core-scheduling\n");
  FakeCookies cookies;
  bench.tools.cookies = &cookies;
  ASSERT_TRUE(bench.gate("CoreSched=true"));
  bench.slo(kCoreSched);
  bench.pod({.name = "web", .qos = "LS"});
  bench.pod({.name = "api", .qos = "LS"});
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.threads("web", "11,12");
  bench.threads("api", "13");
  bench.threads("job", "21");
  bench.start();
  bench.seconds(2);
  EXPECT_NE(cookies.cookie[11], 0u) << joined(bench.writes());
  EXPECT_EQ(cookies.cookie[11], cookies.cookie[12]);
  EXPECT_EQ(cookies.cookie[11], cookies.cookie[13]) << "services of one group share";
  EXPECT_NE(cookies.cookie[21], 0u);
  EXPECT_NE(cookies.cookie[21], cookies.cookie[11]);
  EXPECT_EQ(bench.read("job", "cpu.idle"), "1") << "schedIdle of its class";
  const uint64_t given = cookies.next;
  bench.seconds(3);
  EXPECT_EQ(cookies.next, given) << "who has one keeps it";
  bench.threads("web", "11,12,14");
  bench.seconds(1);
  EXPECT_EQ(cookies.cookie[14], cookies.cookie[11]) << "a newcomer gets its siblings'";
  EXPECT_EQ(cookies.next, given);
  bench.leave();
  for (int pid : {11, 12, 13, 14, 21}) EXPECT_EQ(cookies.cookie[pid], 0u) << pid;
}

// Killed with cookies given, and the policy is another when its successor comes: nobody keeps one.
// A process that has the number of one that ended keeps what it has from somebody else.
TEST(StandIns, CookiesOfAKilledAgentAreTakenBack) {
  MachineBench bench(kMachines + "v2-2socket-smt");
  bench.fs.write("live-facts", "core-scheduling\n");
  FakeCookies cookies;
  bench.tools.cookies = &cookies;
  ASSERT_TRUE(bench.gate("CoreSched=true"));
  bench.slo(kCoreSched);
  bench.pod({.name = "web", .qos = "LS"});
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.threads("web", "11,12");
  bench.threads("job", "21");
  bench.start();
  bench.seconds(2);
  ASSERT_NE(cookies.cookie[11], 0u);
  const uint64_t given = cookies.cookie[11];
  bench.killAndRestart();
  bench.seconds(2);
  EXPECT_EQ(cookies.cookie[11], given) << "the successor goes on with it";
  bench.killAndRestart();
  cookies.cookie[12] = 77;
  bench.slo(R"("resourceQOSStrategy":{})");
  bench.seconds(2);
  EXPECT_EQ(cookies.cookie[11], 0u);
  EXPECT_EQ(cookies.cookie[21], 0u);
  EXPECT_EQ(cookies.cookie[12], 77u) << "another's";
}

// ---- resctrl ---------------------------------------------------------------------------------

struct Processor {
  const char* name;
  const char* cpuinfo;  // vendor_id or CPU implementer, and flags
  std::vector<std::pair<const char*, const char*>> files;
  const char* schemata;
  const char* mounts;
  std::vector<const char*> lines;  // what class BE (0-30 %, 40 % of bandwidth) is written
};

const Processor kProcessors[] = {
    {"Intel, two domains",
     "vendor_id\t: GenuineIntel\nflags\t\t: cat_l3 mba\n",
     {{"info/L3/cbm_mask", "7ff\n"},
      {"info/L3/min_cbm_bits", "1\n"},
      {"info/MB/bandwidth_gran", "10\n"},
      {"info/MB/min_bandwidth", "10\n"}},
     "L3:0=7ff;1=7ff\nMB:0=100;1=100\n",
     "",
     {"schemata[L3]: 0=7ff;1=7ff -> 0=f;1=f", "schemata[MB]: 0=100;1=100 -> 0=40;1=40"}},
    {"AMD, domains that do not count from 0",
     "vendor_id\t: AuthenticAMD\nflags\t\t: cat_l3 mba\n",
     {{"info/L3/cbm_mask", "ffff\n"}, {"info/L3/min_cbm_bits", "1\n"}},
     "L3:2=ffff;5=ffff\nMB:2=2048;5=2048\n",
     "",
     {"-> 2=1f;5=1f", "-> 2=64;5=64"}},
    {"MPAM",
     "CPU implementer\t: 0x48\nFeatures\t: fp asimd\n",
     {{"info/L3/cbm_mask", "ffff\n"},
      {"info/L3/min_cbm_bits", "1\n"},
      {"info/MB/bandwidth_gran", "2\n"},
      {"info/MB/min_bandwidth", "2\n"}},
     "L3:1=ffff;3=ffff\nMB:1=100;3=100\n",
     "",
     {"-> 1=1f;3=1f", "-> 1=40;3=40"}},
    {"code and data apart",
     "vendor_id\t: GenuineIntel\nflags\t\t: cat_l3 mba\n",
     {{"info/L3CODE/cbm_mask", "7ff\n"},
      {"info/L3CODE/min_cbm_bits", "1\n"},
      {"info/L3DATA/cbm_mask", "7ff\n"},
      {"info/MB/bandwidth_gran", "10\n"}},
     "L3CODE:0=7ff;1=7ff\nL3DATA:0=7ff;1=7ff\nMB:0=100;1=100\n",
     "",
     {"schemata[L3CODE]: 0=7ff;1=7ff -> 0=f;1=f", "schemata[L3DATA]: 0=7ff;1=7ff -> 0=f;1=f",
      "-> 0=40;1=40"}},
    {"megabytes per second",
     "vendor_id\t: GenuineIntel\nflags\t\t: cat_l3 mba\n",
     {{"info/L3/cbm_mask", "7ff\n"},
      {"info/L3/min_cbm_bits", "1\n"},
      {"info/MB/bandwidth_gran", "10\n"}},
     "L3:0=7ff;1=7ff\nMB:0=4294967290;1=4294967290\n",
     "resctrl /sys/fs/resctrl resctrl rw,mba_MBps 0 0\n",
     {"-> 0=f;1=f", "-> 0=16000;1=16000"}},
};

TEST(StandIns, ResctrlOfSeveralProcessors) {
  for (const Processor& one : kProcessors) {
    SCOPED_TRACE(one.name);
    MachineBench bench(kMachines + "v2-2socket-smt");
    bench.fs.write("proc/cpuinfo", std::string("processor\t: 0\n") + one.cpuinfo + "\n");
    bench.fs.write("proc/mounts", one.mounts);
    for (const auto& [file, text] : one.files)
      bench.fs.write(std::string("sys/fs/resctrl/") + file, text);
    for (const char* group : {"", "BE/"}) {
      bench.fs.write(fmt::format("sys/fs/resctrl/{}schemata", group), one.schemata);
      bench.fs.write(fmt::format("sys/fs/resctrl/{}tasks", group), "");
    }
    bench.node("{}", R"({"node.mangrove.io/memory-bandwidth":"{\"perDomain\":\"40G\"}"})");
    bench.slo(R"("resourceQOSStrategy":{"beClass":{"resctrlQOS":{"enable":true,)"
              R"("catRangeStartPercent":0,"catRangeEndPercent":30,"mbaPercent":40}}})");
    bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
    bench.threads("job", "41");
    bench.start();
    bench.seconds(1);
    const auto log = bench.writes();
    for (const char* line : one.lines)
      EXPECT_TRUE(hasLine(log, line)) << line << "\n" << joined(log);
    EXPECT_EQ(bench.fs.read("sys/fs/resctrl/BE/tasks"), "41");
  }
}

// A group of an agent before us whose class is off holds nobody back any more, also after we left.
TEST(StandIns, ClassesThatAreOffAreReleased) {
  MachineBench bench(kMachines + "anolis-v1-resctrl");
  bench.fs.write("sys/fs/resctrl/BE/schemata", "MB:0=100\nL3:0=f\n");
  bench.slo(R"("resourceQOSStrategy":{"beClass":{"resctrlQOS":{"enable":false}}})");
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.start();
  bench.seconds(2);
  EXPECT_TRUE(hasLine(bench.writes(), "schemata[L3]: 0=f -> 0=fff"));
  bench.leave();
  EXPECT_FALSE(hasLine(bench.writes(), "0=f\n"));
}

// The processor can and nobody mounted the file system: we try, and say once why not here.
TEST(StandIns, ResctrlIsMountedWhereNobodyDid) {
  MachineBench bench(kMachines + "v2-2socket-smt");
  bench.fs.write("proc/cpuinfo",
                 "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: cat_l3 mba\n\n");
  std::filesystem::create_directories(bench.fs.path() / "sys/fs/resctrl");
  bench.slo(R"("resourceQOSStrategy":{"beClass":{"resctrlQOS":{"enable":true}}})");
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.start();
  bench.seconds(5);
  const auto log = bench.writes();
  EXPECT_EQ(std::count_if(log.begin(), log.end(),
                          [](const std::string& line) {
                            return line.find("the folder is not sysfs's own") != line.npos;
                          }),
            1)
      << joined(log);
}

// What the kernel shows once it is mounted. Its groups have their files as soon as they are made; here
// the one we look at has them from the beginning.
bool standInMount(const std::string& target) {
  const auto put = [&](const std::string& file, std::string_view text) {
    const std::filesystem::path path = std::filesystem::path(target) / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  };
  if (std::filesystem::exists(std::filesystem::path(target) / "schemata")) return false;
  put("info/L3/cbm_mask", "7ff\n");
  put("info/L3/min_cbm_bits", "1\n");
  put("info/MB/bandwidth_gran", "10\n");
  for (const char* group : {"", "BE/"}) {
    put(fmt::format("{}schemata", group), "L3:0=7ff;1=7ff\nMB:0=100;1=100\n");
    put(fmt::format("{}tasks", group), "");
  }
  return true;
}

// … and goes on with it; ARM's processors say what they can only afterwards.
TEST(StandIns, WhatWasMountedIsUsed) {
  for (const char* cpu : {"vendor_id\t: GenuineIntel\nflags\t\t: cat_l3 mba\n",
                          "CPU implementer\t: 0x48\nFeatures\t: fp asimd\n"}) {
    SCOPED_TRACE(cpu);
    kernel::setMountResctrl(&standInMount);
    MachineBench bench(kMachines + "v2-2socket-smt");
    bench.fs.write("proc/cpuinfo", std::string("processor\t: 0\n") + cpu + "\n");
    std::filesystem::create_directories(bench.fs.path() / "sys/fs/resctrl");
    bench.slo(R"("resourceQOSStrategy":{"beClass":{"resctrlQOS":{"enable":true}}})");
    bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
    bench.threads("job", "41");
    bench.start();
    bench.seconds(2);
    bench.scene->clock.advance(1h);  // until the machine is looked at again, here
    bench.seconds(3);
    kernel::setMountResctrl(nullptr);
    const auto log = bench.writes();
    EXPECT_TRUE(hasLine(log, "sys/fs/resctrl group:  -> made")) << joined(log);
    EXPECT_TRUE(hasLine(log, "schemata[L3]: 0=7ff;1=7ff -> 0=f;1=f")) << joined(log);
    EXPECT_EQ(bench.fs.read("sys/fs/resctrl/BE/tasks"), "41");
    EXPECT_TRUE(bench.scene->agent().machine().can().has(kernel::Feature::kResctrl));
  }
}

// ---- pressure --------------------------------------------------------------------------------

// The kernel takes a trigger: the sentinel sleeps until it fires, cuts at once, and looks closely for
// a while afterwards.
TEST(StandIns, TriggersWakeTheSentinel) {
  kernel::setArmTrigger([](int, std::string_view text) { return text == "some 50000 500000"; });
  kernel::FakeRoot fs;
  const kernel::SysRoot root(fs.path());
  VirtualClock clock;
  std::vector<Cut> cuts;
  Sentinel sentinel(root, clock, {.onCut = [&](const Cut& cut) { cuts.push_back(cut); }});
  int64_t stalled = 0, used = 0;
  const auto pass = [&](Duration by, double waited, bool alarmed) {
    stalled += static_cast<int64_t>(static_cast<double>(by / 1us) * waited);
    used += static_cast<int64_t>(static_cast<double>(by.count()) * 1.8);
    fs.write("ls/cpu.pressure",
             fmt::format("some avg10=0.00 avg60=0.00 avg300=0.00 total={}\n", stalled));
    fs.write("be/usage", fmt::format("{}\n", used));
    clock.advance(by);
    return sentinel.turn(alarmed);
  };
  fs.write("ls/cpu.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
  fs.write("be/quota", "-1\n");
  fs.write("be/usage", "0\n");
  SentinelOrders orders;
  orders.watch.services = {"ls"};
  orders.watch.triggers = true;
  orders.quotaFile = "be/quota";
  orders.usageFile = "be/usage";
  orders.governor.machine = 200'000;
  sentinel.order(orders);
  pass(25ms, 0, false);
  EXPECT_EQ(pass(1s, 0, false), Duration(1s)) << "until the kernel wakes it";
  EXPECT_EQ(sentinel.status().mode, "trigger");
  pass(50ms, 0.9, true);
  pass(25ms, 0.9, true);
  ASSERT_EQ(cuts.size(), 1u);
  EXPECT_EQ(cuts[0].group, "ls");
  EXPECT_EQ(fs.read("be/quota"), std::to_string(sentinel.cap()));
  EXPECT_EQ(pass(25ms, 0, false), Duration(25ms)) << "a limit is in force";
  kernel::setArmTrigger(nullptr);
}

// A strategy that is made after the bench it runs on: its sentinel needs the bench's files and clock.
class LateStrategy final : public Strategy {
 public:
  explicit LateStrategy(std::unique_ptr<PressureCut>& inner) : inner_(inner) {}
  StrategyInfo info() const override {
    return {.name = owner::kPressure, .gate = "PressureCut", .ofTheGroup = true};
  }
  Wishes decide(const Situation& now) override { return inner_->decide(now); }

 private:
  std::unique_ptr<PressureCut>& inner_;
};

// The whole agent: it finds out that the kernel grants short windows, tells the sentinel what to watch,
// sleeps on the triggers, and keeps to the cut at its next tick.
TEST(StandIns, TriggersInTheWholeAgent) {
  kernel::setArmTrigger([](int, std::string_view text) { return text == "some 50000 500000"; });
  std::unique_ptr<PressureCut> inner;
  std::vector<std::unique_ptr<Strategy>> strategies;
  strategies.push_back(std::make_unique<LateStrategy>(inner));
  MachineBench bench(kMachines + "v2-2socket-smt", std::move(strategies));
  bench.fs.write("live-facts", "short-pressure\n");
  std::vector<Cut> cuts;
  const kernel::SysRoot root(bench.fs.path());
  Sentinel sentinel(root, bench.scene->clock,
                    {.onCut = [&](const Cut& cut) { cuts.push_back(cut); }});
  inner = std::make_unique<PressureCut>(sentinel, PressureOptions{});
  bench.slo(R"("resourceUsedThresholdWithBE":{"enable":true})");
  bench.pod({.name = "web", .qos = "LS"});
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  int64_t stalled = 0;
  const auto wait = [&](Duration by, double share) {
    stalled += static_cast<int64_t>(static_cast<double>(by / 1us) * share);
    for (const char* where : {"web", "LS"})
      bench.fs.write(bench.scene->agent().machine().trees().pressurePath(bench.cgroupOf(where)) +
                         "/cpu.pressure",
                     fmt::format("some avg10=0.00 avg60=0.00 avg300=0.00 total={}\n", stalled));
  };
  bench.start();
  wait(1s, 0);
  bench.use("job", 8);
  bench.seconds(2);
  sentinel.turn(false);
  bench.scene->clock.advance(25ms);
  EXPECT_EQ(sentinel.turn(false), Duration(1s)) << "until the kernel wakes it";
  EXPECT_EQ(sentinel.status().mode, "trigger");
  for (int i = 0; i < 4 && cuts.empty(); ++i) {
    wait(1s, 0.9);
    bench.seconds(1);  // best-effort work uses eight cores meanwhile
    sentinel.turn(true);
  }
  ASSERT_EQ(cuts.size(), 1u);
  EXPECT_NE(cuts[0].group.find("pod"), std::string::npos) << cuts[0].group;
  EXPECT_LT(sentinel.cap(), 1'600'000);
  // Who writes a quota alone leaves the period as it is.
  const auto quota = [&] {
    const std::string text = bench.read("BE", "cpu.cfs_quota_us");
    return text.substr(0, text.find(' '));
  };
  EXPECT_EQ(quota(), std::to_string(sentinel.cap()));
  bench.seconds(1);
  EXPECT_EQ(quota(), std::to_string(sentinel.cap())) << "the executor keeps to it";
  kernel::setArmTrigger(nullptr);
}

}  // namespace
}  // namespace mangrove::agent
