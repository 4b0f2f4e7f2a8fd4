// Random lives of a node: pods come, go and change their class, and somebody else writes into the
// control files. After every tick the promises of the classes hold.
//
// A few hundred sequences run always; MANGROVE_PROPERTY_ROUNDS=10000 runs the full number on each
// machine (a minute or two of CPU time).
#include <cstdlib>

#include <gtest/gtest.h>

#include "agent/qos/testing/machine_bench.h"
#include "base/number/rng.h"
#include "base/testing/size.h"
#include "base/text/strings.h"

namespace mangrove::agent {
namespace {

using testing::MachineBench;
using testing::SimPod;

struct Life {
  std::string tier, qos;
  CpuSet own;
  // Reconcile sees a container's directory at the tick after it was made; a runtime's hook sets it
  // before its first instruction.
  bool isNew = true;
};

class Node {
 public:
  Node(const char* machine, uint64_t seed)
      : bench_(std::string(MANGROVE_SOURCE_DIR) + "/test/machines/" + machine), rng_(seed) {
    bench_.countEachCpu();
    bench_.slo(sloText());
    publish();
    bench_.start();
    bench_.seconds(2);
    cpus_ = CpuSet::parse(bench_.read("BE", "cpuset.cpus")).value();
    total_ = cpus_;
  }

  // One sequence: a few things happen, a tick passes, everything is looked at.
  void round() {
    for (uint64_t i = 0; i <= rng_.below(3); ++i) event();
    for (auto& [name, life] : pods_) {
      bench_.use(name, double(rng_.below(30)) / 10);
      bench_.throttle(name, double(rng_.below(10)) / 10);
    }
    // Published pools come late.
    if (rng_.below(2) == 0) publish();
    bench_.writes();
    bench_.seconds(1);
    check();
  }

  // For people who look at a failure: who was there, and what the last tick wrote.
  std::string story() {
    std::string out;
    for (const auto& [name, life] : pods_)
      out += fmt::format("{} {} {} own [{}] cpuset [{}] [{}]\n", name, life.tier, life.qos,
                         life.own.text(), bench_.read(name, "cpuset.cpus"),
                         bench_.read(name + "/c", "cpuset.cpus"));
    for (const std::string& line : bench_.writes()) out += line + "\n";
    const auto& held = bench_.enforcer->executor().held();
    for (const auto& [key, file] : held)
      if (key.resource == "cpuset.cpus")
        out += fmt::format("held {} [{}] by {}: {} {}\n", key.cgroup, file.wanted.cpus.text(),
                           file.owner, file.why, file.trouble);
    return out;
  }

 private:
  void event() {
    switch (rng_.below(9)) {
      case 0:
      case 1:
      case 2:
        return come();
      case 3:
        return go();
      case 4:
        return change();
      case 5:
        return foreign();
      case 6:
        return bench_.slo(sloText());
      case 7:
        return moveMemory();
      default:
        return;
    }
  }

  std::string sloText() {
    return fmt::format(R"("resourceUsedThresholdWithBE":{{"enable":{},"cpuSuppressPolicy":"{}",)"
                       R"("cpuSuppressThresholdPercent":{}}},"cpuBurstStrategy":{{"policy":"{}"}},)"
                       R"("resourceQOSStrategy":{{"lsClass":{{"cpuQOS":{{"enable":{},)"
                       R"("groupIdentity":2}}}}}})",
                       rng_.below(5) != 0, rng_.below(2) == 0 ? "cpuset" : "cfsQuota",
                       30 + rng_.below(60), rng_.below(2) == 0 ? "auto" : "none",
                       rng_.below(2) == 0);
  }

  // Best-effort memory wanders over the NUMA nodes, and CPUs after it.
  void moveMemory() {
    const Machine& machine = bench_.scene->agent().machine();
    if (!machine.trees().isV2()) return;
    std::string anon = "anon", file = "file";
    for (int node : machine.numaNodes()) {
      anon += fmt::format(" N{}={}", node, rng_.below(1000) << 20);
      file += fmt::format(" N{}=0", node);
    }
    bench_.write("BE", "memory.numa_stat", anon + "\n" + file);
  }

  CpuSet ownedBy(std::initializer_list<std::string_view> classes) const {
    CpuSet out;
    for (const auto& [name, life] : pods_)
      if (std::find(classes.begin(), classes.end(), life.qos) != classes.end())
        out = out | life.own;
    return out;
  }

  void put(const std::string& name, Life life) {
    SimPod pod{.name = name, .tier = life.tier, .qos = life.qos};
    if (!life.own.empty())
      pod.annotations =
          fmt::format(R"({{"scheduling.koordinator.sh/resource-status":"{{\"cpuset\":\"{}\"}}"}})",
                      life.own.text());
    if (life.tier == "burstable" && life.own.empty())
      pod.resources = R"({"limits":{"cpu":"2"},"requests":{"cpu":"1"}})";
    pods_[name] = std::move(life);
    bench_.pod(pod);
  }

  Life anyLife() {
    static const char* const kClasses[] = {"LSE", "LSR", "LS", "BE", "BE", ""};
    Life life;
    life.qos = kClasses[rng_.below(6)];
    life.tier = life.qos == "BE" ? "besteffort" : rng_.below(2) == 0 ? "burstable" : "guaranteed";
    if (life.qos == "LSE" || life.qos == "LSR") bind(life);
    return life;
  }

  // As a scheduler does: CPUs that nobody else has to himself, never more than half of them.
  void bind(Life& life) {
    CpuSet free = cpus_ - ownedBy({"LSE", "LSR"});
    while (life.own.size() < 1 + rng_.below(3) && 2 * free.size() > cpus_.size()) {
      const auto all = free.list();
      const int cpu = all[rng_.below(all.size())];
      life.own.add(cpu);
      free.remove(cpu);
    }
    if (life.own.empty()) life.qos = "LS";
  }

  void come() {
    if (pods_.size() >= 8) return;
    put("p" + std::to_string(next_++), anyLife());
  }
  std::string any() {
    auto it = pods_.begin();
    std::advance(it, rng_.below(pods_.size()));
    return it->first;
  }
  void go() {
    if (pods_.empty()) return;
    const std::string name = any();
    pods_.erase(name);
    bench_.remove(name);
  }
  // Another class; the tier of a cgroup cannot change.
  void change() {
    if (pods_.empty()) return;
    const std::string name = any();
    Life life = pods_[name];
    if (life.tier == "besteffort") return;
    life.own = {};
    pods_[name].own = {};
    life.qos = rng_.below(2) == 0 ? "LS" : "LSR";
    if (life.qos == "LSR") bind(life);
    put(name, life);
  }
  void foreign() {
    const std::string where = pods_.empty() || rng_.below(3) == 0 ? "BE" : any() + "/c";
    if (rng_.below(2) == 0)
      bench_.write(where, "cpuset.cpus", cpus_.text());
    else
      bench_.write(where, "cpu.cfs_quota_us", "1000000 100000");
  }

  void publish() {
    const CpuSet pool = total_ - ownedBy({"LSE", "LSR"});
    const auto text = [](const CpuSet& cpus) {
      return fmt::format(R"("[{{\"socket\":0,\"node\":0,\"cpuset\":\"{}\"}}]")", cpus.text());
    };
    bench_.topology(fmt::format(R"({{"node.koordinator.sh/cpu-shared-pools":{},)"
                                R"("node.koordinator.sh/be-cpu-shared-pools":{}}})",
                                text(pool), text(total_ - ownedBy({"LSE"}))));
  }

  // v2 leaves a file empty that follows its parent.
  CpuSet cpusOf(const std::string& where, const CpuSet& parent) {
    const auto cpus = CpuSet::parse(bench_.read(where, "cpuset.cpus"));
    return cpus && !cpus->empty() ? *cpus : parent;
  }
  int64_t quotaOf(const std::string& where) {
    const std::string text = bench_.read(where, "cpu.cfs_quota_us");
    const std::string first = text.substr(0, text.find(' '));
    return first == "max" || first == "-1" ? kUnlimited : std::stoll(first);
  }

  void check() {
    // Somebody fights for a file: it is repaired ever more rarely.
    if (bench_.last.waiting > 0) return;
    const CpuSet exclusive = ownedBy({"LSE"});
    const CpuSet group = cpusOf("BE", total_);
    EXPECT_TRUE((group & exclusive).empty())
        << "BE on an LSE CPU: " << group.text() << " and " << exclusive.text();
    EXPECT_GE(quotaOf("BE"), 2000);
    for (auto& [name, life] : pods_) {
      if (!life.isNew) checkPod(name, life, group, exclusive);
      life.isNew = false;
    }
    checkOwners();
  }

  void checkPod(const std::string& name, const Life& life, const CpuSet& group,
                const CpuSet& exclusive) {
    const bool batch = life.tier == "besteffort";
    const CpuSet pod = cpusOf(name, batch ? group : total_);
    const CpuSet container = cpusOf(name + "/c", pod);
    if (batch) {
      EXPECT_TRUE(pod.isSubsetOf(group)) << name << ": wider than its parent";
      EXPECT_TRUE(container.isSubsetOf(pod)) << name << ": wider than its pod";
    }
    if (life.qos == "LSE" || life.qos == "LSR") {
      EXPECT_EQ(container, life.own) << name;
    }
    if (life.qos != "LSE") {
      EXPECT_TRUE((container & exclusive).empty())
          << name << " " << life.qos << " on an LSE CPU: " << container.text() << " and "
          << exclusive.text();
    }
    EXPECT_GE(quotaOf(name), 1000) << name;
    EXPECT_GE(quotaOf(name + "/c"), 1000) << name;
    if (!batch && quotaOf(name) != kUnlimited) {
      EXPECT_LE(quotaOf(name + "/c"), quotaOf(name)) << name << ": quota above its pod's";
    }
  }

  // One owner per file, one key per file.
  void checkOwners() {
    std::set<std::string> seen;
    for (const auto& [key, held] : bench_.enforcer->executor().held()) {
      EXPECT_TRUE(seen.insert(fmt::format("{} {} {}", key.cgroup, key.resource, key.entry)).second);
      EXPECT_TRUE(rankOf(*ruleOf(key.resource), held.owner))
          << key.cgroup << " " << key.resource << ": " << held.owner;
    }
  }

  MachineBench bench_;
  Rng rng_;
  CpuSet cpus_, total_;
  std::map<std::string, Life> pods_;
  int next_ = 1;
};

int rounds() {
  return sized(120, 10000);
}

class RandomLives : public ::testing::TestWithParam<const char*> {};

TEST_P(RandomLives, KeepThePromisesOfTheClasses) {
  // A fresh machine now and then, so that every beginning is seen too.
  for (int done = 0, seed = 1; done < rounds() && !HasFailure(); ++seed) {
    Node node(GetParam(), static_cast<uint64_t>(seed));
    for (int i = 0; i < 250 && done < rounds(); ++i, ++done) {
      node.round();
      ASSERT_FALSE(HasFailure()) << "seed " << seed << ", round " << i << "\n" << node.story();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, RandomLives,
                         ::testing::Values("v2-2socket-smt", "anolis-v1-resctrl",
                                           "v2-4numa-offline", "v1-2core-vm"));

}  // namespace
}  // namespace mangrove::agent
