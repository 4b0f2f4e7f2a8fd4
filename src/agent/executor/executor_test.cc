// The executor over trees made of files.
#include "agent/executor/executor.h"

#include <gtest/gtest.h>

#include "agent/executor/owners.h"
#include "base/check.h"
#include "kernel/resource_names.h"
#include "kernel/testing/fake_root.h"

namespace mangrove::agent {
namespace {

using kernel::CgroupVersion;
using kernel::FakeRoot;

const std::string kCpu = "sys/fs/cgroup/cpu/";
const std::string kSet = "sys/fs/cgroup/cpuset/";
const std::string kBe = "kubepods/besteffort";
const std::string kPod = kBe + "/poda";

// A v1 machine with one best-effort pod.
struct Bench {
  explicit Bench(bool v2 = false) {
    fs.write("sys/devices/system/cpu/online", "0-3\n");
    fs.write("sys/devices/system/cpu/possible", "0-3\n");
    fs.write("sys/devices/system/cpu/cpu0/topology/core_id", "0\n");
    fs.write("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
    if (v2) fs.write("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory\n");
    for (const std::string& cgroup : {std::string("kubepods"), kBe, kPod}) {
      if (v2) {
        fs.write("sys/fs/cgroup/" + cgroup + "/cpu.max", "max 100000\n");
        fs.write("sys/fs/cgroup/" + cgroup + "/cpu.weight", "1\n");
        continue;
      }
      fs.write(kCpu + cgroup + "/cpu.cfs_quota_us", "-1\n");
      fs.write(kCpu + cgroup + "/cpu.cfs_burst_us", "0\n");
      fs.write(kCpu + cgroup + "/cpu.shares", "2\n");
      fs.write(kCpu + cgroup + "/cpu.idle", "0\n");
      fs.write(kSet + cgroup + "/cpuset.cpus", "0-3\n");
    }
    auto opened = Machine::open({.root = fs.path(), .live = false});
    CHECK(opened, "{}", opened.error().text());
    machine = std::move(*opened);
    executor = std::make_unique<Executor>(*machine, clock, audit);
  }
  Bench& want(std::string_view owner, std::string cgroup, std::string_view file, Part part) {
    wishes.push_back({owner, {std::move(cgroup), file, std::move(part), "test"}, false});
    return *this;
  }
  ApplyReport apply() {
    std::vector<OwnedWish> owned;
    for (const auto& one : wishes) owned.push_back({one.owner, &one.wish, one.dry});
    auto report = executor->apply(owned);
    wishes.clear();
    return report;
  }
  // "cgroup file from>to", oldest first.
  std::vector<std::string> log() const {
    std::vector<std::string> out;
    for (const AuditRecord& r : audit.last(0, 100))
      out.insert(out.begin(),
                 fmt::format("{} {} {}>{} {}", r.cgroup.substr(r.cgroup.rfind('/') + 1), r.file,
                             r.from, r.to, r.outcome));
    return out;
  }
  struct Said {
    std::string_view owner;
    Wish wish;
    bool dry;
  };
  FakeRoot fs;
  VirtualClock clock{WallTime(std::chrono::seconds(1'750'000'000))};
  AuditLog audit;
  std::unique_ptr<Machine> machine;
  std::unique_ptr<Executor> executor;
  std::vector<Said> wishes;
};

Part quota(int64_t us) {
  return Part::base(FileValue::of(us));
}
Part cpus(const char* text) {
  return Part::base(FileValue::of(*CpuSet::parse(text)));
}

TEST(Value, IsWrittenAsEachVersionWantsIt) {
  struct Row {
    const char* file;
    int64_t value;
    const char *v1, *v2;
  };
  for (const Row& row : {Row{"cpu.cfs_quota_us", kUnlimited, "-1", "max"},
                         Row{"cpu.cfs_quota_us", 50000, "50000", "50000"},
                         Row{"memory.limit_in_bytes", kUnlimited, "-1", "max"},
                         Row{"memory.high", kUnlimited, "-1", "max"},
                         Row{"cpu.shares", 1024, "1024", "39"}, Row{"cpu.shares", 2, "2", "1"}}) {
    const FileRule& rule = *ruleOf(row.file);
    EXPECT_EQ(formatValue(rule, FileValue::of(row.value), CgroupVersion::kV1), row.v1) << row.file;
    EXPECT_EQ(formatValue(rule, FileValue::of(row.value), CgroupVersion::kV2), row.v2) << row.file;
  }
}

TEST(Value, IsReadFromEachVersion) {
  const auto read = [](const char* file, const char* text, CgroupVersion version) {
    return parseValue(*ruleOf(file), text, version)->number;
  };
  EXPECT_EQ(read("cpu.cfs_quota_us", "max 100000\n", CgroupVersion::kV2), kUnlimited);
  EXPECT_EQ(read("cpu.cfs_quota_us", "5000 100000\n", CgroupVersion::kV2), 5000);
  EXPECT_EQ(read("cpu.cfs_quota_us", "-1\n", CgroupVersion::kV1), kUnlimited);
  EXPECT_EQ(read("memory.limit_in_bytes", "9223372036854771712\n", CgroupVersion::kV1), kUnlimited);
  EXPECT_EQ(read("cpu.shares", "100\n", CgroupVersion::kV2), 2598);
  EXPECT_FALSE(parseValue(*ruleOf("cpu.idle"), "yes", CgroupVersion::kV1));
}

TEST(Compose, TakesTheFirstOwnersBaseTimesScalesUnderCaps) {
  const FileRule& rule = *ruleOf("cpu.cfs_quota_us");
  const Wish batch{"g", rule.resource, quota(200000), "batch"};
  const Wish suppress{"g", rule.resource, quota(100000), "suppress"};
  const Wish half{"g", rule.resource, Part::scale(1 / 1.2), "ratio"};
  const Wish cap{"g", rule.resource, Part::cap(70000), "cap"};
  const auto number = [&](std::vector<OwnedWish> wishes) {
    auto composed = compose(rule, wishes);
    return composed ? composed->value.number : -7;
  };
  const OwnedWish b{owner::kBatchResource, &batch}, s{owner::kCpuSuppress, &suppress},
      h{owner::kNormalization, &half}, c{owner::kFailSafe, &cap};
  EXPECT_EQ(number({b}), 200000);
  EXPECT_EQ(number({b, s}), 100000);
  EXPECT_EQ(number({s, b}), 100000);
  EXPECT_EQ(number({s, h}), 83334);
  EXPECT_EQ(number({c, s, h}), 70000);
  EXPECT_EQ(number({c}), 70000);
  EXPECT_EQ(number({h}), -7);
  EXPECT_EQ(number({}), -7);
}

TEST(Compose, IntersectsMasks) {
  const FileRule& rule = *ruleOf("cpuset.cpus");
  const Wish base{"g", rule.resource, cpus("0-5"), ""};
  const Wish one{"g", rule.resource, Part::mask(*CpuSet::parse("2-7")), ""};
  const Wish two{"g", rule.resource, Part::mask(*CpuSet::parse("0-3")), ""};
  const auto text = [&](std::vector<OwnedWish> wishes) {
    return compose(rule, wishes)->value.cpus.text();
  };
  EXPECT_EQ(text({{owner::kCpuSuppress, &one}, {owner::kCpuSuppress, &two}}), "2-3");
  EXPECT_EQ(text({{owner::kCpusetHook, &base}, {owner::kCpuSuppress, &one}}), "2-5");
}

TEST(Executor, WritesOnceAndThenOnlyLooks) {
  Bench bench;
  for (int i = 0; i < 3; ++i) {
    bench.want(owner::kCpuSuppress, kBe, "cpu.cfs_quota_us", quota(50000));
    const ApplyReport report = bench.apply();
    EXPECT_EQ(report.written, i == 0 ? 1u : 0u);
    EXPECT_EQ(report.equal, i == 0 ? 0u : 1u);
  }
  EXPECT_EQ(bench.fs.read(kCpu + kBe + "/cpu.cfs_quota_us"), "50000");
  EXPECT_EQ(bench.log(),
            (std::vector<std::string>{"besteffort cpu.cfs_quota_us -1>50000 written"}));
}

TEST(Executor, NarrowsFromTheBottomAndWidensFromTheTop) {
  Bench bench;
  bench.want(owner::kCpuSuppress, kBe, "cpuset.cpus", cpus("0-1"))
      .want(owner::kCpuSuppress, kPod, "cpuset.cpus", cpus("0-1"));
  bench.apply();
  EXPECT_EQ(bench.log(), (std::vector<std::string>{"poda cpuset.cpus 0-3>0-1 written",
                                                   "besteffort cpuset.cpus 0-3>0-1 written"}));
  bench.want(owner::kCpuSuppress, kBe, "cpuset.cpus", cpus("1-2"))
      .want(owner::kCpuSuppress, kPod, "cpuset.cpus", cpus("1-2"));
  bench.apply();
  const std::vector<std::string> log = bench.log();
  EXPECT_EQ(std::vector<std::string>(log.begin() + 2, log.end()),
            (std::vector<std::string>{
                "besteffort cpuset.cpus 0-1>0-2 written", "poda cpuset.cpus 0-1>0-2 written",
                "poda cpuset.cpus 0-2>1-2 written", "besteffort cpuset.cpus 0-2>1-2 written"}));
}

TEST(Executor, GivesBackWhatNobodyWantsAnyMore) {
  Bench bench;
  bench.want(owner::kCpuSuppress, kBe, "cpu.cfs_quota_us", quota(50000));
  bench.apply();
  bench.apply();
  EXPECT_EQ(bench.fs.read(kCpu + kBe + "/cpu.cfs_quota_us"), "-1");
  EXPECT_TRUE(bench.executor->held().empty());
}

// The fast path cuts within milliseconds; the strategies may not know enough for seconds.
TEST(Executor, NeverGoesBackToACutOfTheFastPath) {
  Bench bench;
  bench.fs.write(kCpu + kBe + "/cpu.cfs_quota_us", "2000\n");
  bench.want(owner::kCpuSuppress, kBe, "cpu.cfs_quota_us", quota(2000));
  bench.wishes.back().wish.ours = true;
  bench.apply();
  bench.apply();
  EXPECT_EQ(bench.fs.read(kCpu + kBe + "/cpu.cfs_quota_us"), "-1");
  // What others set as well goes back to what they had set.
  bench.fs.write(kCpu + kPod + "/cpu.cfs_quota_us", "2000\n");
  bench.want(owner::kCpuBurst, kPod, "cpu.cfs_quota_us", quota(3000));
  bench.apply();
  bench.apply();
  EXPECT_EQ(bench.fs.read(kCpu + kPod + "/cpu.cfs_quota_us"), "2000");
}

TEST(Executor, RepairsForeignWritesAndLosesPatience) {
  Bench bench;
  const auto round = [&] {
    bench.clock.advance(std::chrono::seconds(1));
    bench.want(owner::kCpuSuppress, kBe, "cpu.cfs_quota_us", quota(50000));
    return bench.apply();
  };
  round();
  int repaired = 0;
  for (int i = 0; i < 30; ++i) {
    bench.fs.write(kCpu + kBe + "/cpu.cfs_quota_us", "70000\n");
    repaired += static_cast<int>(round().written);
  }
  EXPECT_GE(repaired, Executor::kPatience);
  EXPECT_LT(repaired, 15);
  const HeldFile& held = bench.executor->held().begin()->second;
  EXPECT_GE(held.conflicts, 5u);
}

TEST(Executor, RefusesStrangersAndNonsense) {
  Bench bench;
  bench.want(owner::kBlkio, kBe, "cpu.cfs_quota_us", quota(50000))
      .want(owner::kKernelFloor, kBe, "cpu.idle", quota(7))
      .want(owner::kCpuSuppress, kPod, "cpuset.cpus", Part::base(FileValue::of(CpuSet())));
  EXPECT_EQ(bench.apply().refused, 3u);
  EXPECT_TRUE(bench.log().empty());
}

// What a strategy says in its info counts like a rank, behind all ranks.
TEST(Wish, ADeclaredFileIsWantedBehindThoseTheRuleNames) {
  const std::string_view files[] = {kernel::resource_name::kCpuQuota};
  const FileRule& rule = *ruleOf(kernel::resource_name::kCpuQuota);
  const Wish mine{kBe, kernel::resource_name::kCpuQuota, quota(20000), "mine"};
  const Wish theirs{kBe, kernel::resource_name::kCpuQuota, quota(50000), "theirs"};
  const OwnedWish stranger{.owner = "newcomer", .wish = &mine};
  const OwnedWish newcomer{.owner = "newcomer", .wish = &mine, .files = files};
  EXPECT_FALSE(mayWant(rule, stranger));
  EXPECT_TRUE(mayWant(rule, newcomer));
  EXPECT_EQ(compose(rule, std::vector{newcomer})->value.number, 20000);
  const OwnedWish ranked{.owner = owner::kCpuSuppress, .wish = &theirs};
  EXPECT_EQ(compose(rule, std::vector{newcomer, ranked})->value.number, 50000);
}

TEST(Executor, TakesAbsenceForAnAnswer) {
  Bench bench;
  bench.want(owner::kCpuSuppress, "kubepods/besteffort/gone", "cpu.cfs_quota_us", quota(50000))
      .want(owner::kGroupIdentity, kBe, "cpu.bvt_warp_ns", quota(-1));
  const ApplyReport report = bench.apply();
  EXPECT_EQ(report.missing, 2u);
  EXPECT_EQ(report.failed, 0u);
}

TEST(Executor, LeavesSharesAloneWhileAGroupIsIdle) {
  Bench bench;
  bench.want(owner::kKernelFloor, kPod, "cpu.idle", quota(1))
      .want(owner::kBatchResource, kPod, "cpu.shares", quota(512));
  bench.apply();
  EXPECT_EQ(bench.log(), (std::vector<std::string>{"poda cpu.idle 0>1 written"}));
  bench.want(owner::kKernelFloor, kPod, "cpu.idle", quota(0))
      .want(owner::kBatchResource, kPod, "cpu.shares", quota(512));
  bench.apply();
  EXPECT_EQ(bench.log().back(), "poda cpu.shares 2>512 written");
}

TEST(Executor, KeepsBurstWithinQuota) {
  Bench bench;
  const auto both = [&](int64_t limit, int64_t burst) {
    bench.want(owner::kCpuBurst, kPod, "cpu.cfs_quota_us", quota(limit))
        .want(owner::kCpuBurst, kPod, "cpu.cfs_burst_us", quota(burst));
    return bench.apply();
  };
  both(200000, 2000000);
  EXPECT_EQ(bench.fs.read(kCpu + kPod + "/cpu.cfs_burst_us"), "200000");
  EXPECT_EQ(both(200000, 2000000).equal, 2u);
  both(100000, 2000000);
  EXPECT_EQ(bench.log()[2], "poda cpu.cfs_burst_us 200000>100000 written");
  EXPECT_EQ(bench.log()[3], "poda cpu.cfs_quota_us 200000>100000 written");
}

TEST(Executor, DryRunSaysOnceAndWritesNothing) {
  Bench bench;
  for (int i = 0; i < 3; ++i) {
    bench.want(owner::kCpuSuppress, kBe, "cpu.cfs_quota_us", quota(50000));
    bench.wishes.back().dry = true;
    EXPECT_EQ(bench.apply().dryRun, 1u);
  }
  EXPECT_EQ(bench.fs.read(kCpu + kBe + "/cpu.cfs_quota_us"), "-1\n");
  EXPECT_EQ(bench.log(),
            (std::vector<std::string>{"besteffort cpu.cfs_quota_us -1>50000 dry-run"}));
}

TEST(Executor, SuccessorTakesOverWithoutAWriteAndCanGiveBack) {
  Bench bench;
  bench.want(owner::kCpuSuppress, kBe, "cpu.cfs_quota_us", quota(50000));
  bench.apply();
  Executor successor(*bench.machine, bench.clock, bench.audit);
  successor.load(*json::parse(json::write(bench.executor->state())));
  const Wish wish{kBe, "cpu.cfs_quota_us", quota(50000), ""};
  const OwnedWish owned{owner::kCpuSuppress, &wish};
  EXPECT_EQ(successor.apply({&owned, 1}).written, 0u);
  EXPECT_EQ(successor.restoreAll("bye").written, 1u);
  EXPECT_EQ(bench.fs.read(kCpu + kBe + "/cpu.cfs_quota_us"), "-1");
}

TEST(Executor, SpeaksToTheUnifiedTree) {
  Bench bench(true);
  bench.want(owner::kCpuSuppress, kBe, "cpu.cfs_quota_us", quota(50000))
      .want(owner::kBatchResource, kPod, "cpu.shares", quota(1000));
  bench.apply();
  EXPECT_EQ(bench.fs.read("sys/fs/cgroup/" + kBe + "/cpu.max"), "50000");
  EXPECT_EQ(bench.fs.read("sys/fs/cgroup/" + kPod + "/cpu.weight"), "39");
  bench.want(owner::kBatchResource, kPod, "cpu.shares", quota(1000));
  EXPECT_EQ(bench.apply().equal, 1u);
  EXPECT_EQ(bench.fs.read("sys/fs/cgroup/" + kBe + "/cpu.max"), "max");
}

// A reflex narrowed the file before the executor first saw it: what it found is what comes back.
TEST(Executor, GivesBackWhatAReflexFound) {
  for (const bool told : {true, false}) {
    Bench bench;
    bench.fs.write(kCpu + kPod + "/cpu.cfs_quota_us", "50000\n");  // cut from 90000 a moment ago
    if (told) {
      bench.want(owner::kCpuSuppress, kPod, "cpu.cfs_quota_us", Part::cap(50000));
      bench.wishes.back().wish.before = FileValue::of(90000);
      bench.apply();
      bench.apply();  // nobody wants it any more
    } else {
      bench.executor->adopt({kPod, kernel::resource_name::kCpuQuota}, FileValue::of(50000),
                            FileValue::of(90000), owner::kCpuSuppress);
      bench.executor->restoreAll("the agent leaves");
    }
    EXPECT_EQ(bench.fs.read(kCpu + kPod + "/cpu.cfs_quota_us"), "90000") << told;
  }
}

// A strategy in a dry run says what it would do and leaves the others' parts alone.
TEST(Executor, DryPartsDoNotHoldBackTheOthers) {
  Bench bench;
  const auto round = [&] {
    bench.want(owner::kBatchResource, kPod, "cpu.cfs_quota_us", quota(80000));
    bench.want(owner::kCpuSuppress, kPod, "cpu.cfs_quota_us", quota(30000));
    bench.wishes.back().dry = true;
    return bench.apply();
  };
  EXPECT_EQ(round().written, 1u);
  EXPECT_EQ(bench.fs.read(kCpu + kPod + "/cpu.cfs_quota_us"), "80000");
  round();
  EXPECT_EQ(bench.log(), (std::vector<std::string>{"poda cpu.cfs_quota_us -1>30000 dry-run",
                                                   "poda cpu.cfs_quota_us -1>80000 written"}))
      << "said once";
  EXPECT_EQ(bench.executor->held().begin()->second.wouldBe, "30000");
}

// Between two ticks: what allows more than is wanted, and of files that reflexes never write
// whatever is different.
TEST(Executor, RepairsBetweenTicks) {
  Bench bench;
  bench.want(owner::kCpuSuppress, kBe, "cpu.cfs_quota_us", quota(50000))
      .want(owner::kKernelFloor, kPod, "cpu.idle", quota(1));
  bench.apply();
  const std::vector<FileKey> both = {{kBe, "cpu.cfs_quota_us"}, {kPod, "cpu.idle"}};
  EXPECT_EQ(bench.executor->repair(both).conflicts, 0u) << "nobody did anything";
  bench.fs.write(kCpu + kBe + "/cpu.cfs_quota_us", "20000\n");
  bench.fs.write(kCpu + kPod + "/cpu.idle", "0\n");
  EXPECT_EQ(bench.executor->repair(both).written, 1u);
  EXPECT_EQ(bench.fs.read(kCpu + kBe + "/cpu.cfs_quota_us"), "20000\n") << "a reflex's cut stays";
  EXPECT_EQ(bench.fs.read(kCpu + kPod + "/cpu.idle"), "1");
  bench.fs.write(kCpu + kBe + "/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(bench.executor->repair(both).written, 1u);
  EXPECT_EQ(bench.fs.read(kCpu + kBe + "/cpu.cfs_quota_us"), "50000");
  // Who does not give in is left to the ticks and their patience.
  size_t repaired = 0;
  for (int i = 0; i < 30; ++i) {
    bench.fs.write(kCpu + kPod + "/cpu.idle", "0\n");
    repaired += bench.executor->repair(both).written;
  }
  EXPECT_LE(repaired, static_cast<size_t>(Executor::kPatience));
}

}  // namespace
}  // namespace mangrove::agent
