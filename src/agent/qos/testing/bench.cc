#include "agent/qos/testing/bench.h"

#include "agent/gates.h"
#include "base/check.h"
#include "base/text/strings.h"

namespace mangrove::agent::testing {
namespace {

const std::string kTree = "sys/fs/cgroup/";

AgentOptions agentOptions() {
  AgentOptions options;
  options.machine.driver = kernel::CgroupDriver::kCgroupfs;
  options.topology.enabled = true;
  return options;
}

std::vector<GateInfo> everyGate() {
  std::vector<GateInfo> all(agentGates().begin(), agentGates().end());
  all.insert(all.end(), hookGates().begin(), hookGates().end());
  return all;
}

}  // namespace

const std::string EnforceBench::kBe = "kubepods/besteffort";
const std::string EnforceBench::kLs = "kubepods/burstable";
const std::string EnforceBench::kBePod = kBe + "/podbe-1";
const std::string EnforceBench::kLsPod = kLs + "/podls-1";
const std::string EnforceBench::kBeContainer = kBePod + "/cbe";
const std::string EnforceBench::kLsContainer = kLsPod + "/cls";

EnforceBench::EnforceBench(std::vector<std::unique_ptr<Strategy>> strategies)
    : gates(everyGate()),
      scene(fs.path(), agentOptions()),
      strategies_(strategies.empty() ? defaultStrategies() : std::move(strategies)) {
  makeMachine();
  advance();
}

void EnforceBench::makeMachine() {
  fs.write("sys/devices/system/cpu/online", "0-7\n");
  fs.write("sys/devices/system/cpu/possible", "0-7\n");
  fs.write("proc/sys/kernel/random/boot_id", "boot-1\n");
  for (int i = 0; i < 8; ++i) {
    const std::string cpu = fmt::format("sys/devices/system/cpu/cpu{}/topology/", i);
    fs.write(cpu + "core_id", fmt::format("{}\n", i / 2));
    fs.write(cpu + "physical_package_id", "0\n");
  }
  for (const std::string& group :
       {std::string("kubepods"), kLs, kLsPod, kLsContainer, kBe, kBePod, kBeContainer}) {
    write("cpu", group, "cpu.cfs_quota_us", "-1");
    write("cpu", group, "cpu.cfs_period_us", "100000");
    write("cpu", group, "cpu.cfs_burst_us", "0");
    write("cpu", group, "cpu.shares", "2");
    write("cpu", group, "cpu.idle", "0");
    write("cpuset", group, "cpuset.cpus", "0-7");
    write("memory", group, "memory.limit_in_bytes", "9223372036854771712");
    write("memory", group, "memory.stat",
          "total_inactive_anon 1073741824\ntotal_active_anon 0\n"
          "total_unevictable 0\ntotal_inactive_file 0\ntotal_active_file 0\ntotal_cache 0\n"
          "total_rss 1073741824");
  }
}

void EnforceBench::advance() {
  for (size_t i = 0; i < 3; ++i) totals_[i] += rates_[i];
  periods_ += 10, throttles_ += 10 * throttled_;
  fs.write("proc/stat", fmt::format("cpu  {} 0 0 1 0 0 0 0 0 0\n", int64_t(totals_[0] * 100)));
  fs.write("proc/meminfo", "MemTotal: 8388608 kB\nMemFree: 100 kB\nMemAvailable: 1048576 kB\n");
  const auto usage = [&](const std::string& group, double seconds) {
    write("cpuacct", group, "cpuacct.usage", fmt::format("{}", int64_t(seconds * 1e9)));
    write("cpu", group, "cpu.stat",
          fmt::format("nr_periods {}\nnr_throttled {}\nthrottled_time 0", int64_t(periods_),
                      int64_t(throttles_)));
  };
  usage("kubepods", totals_[1] + totals_[2]);
  for (const std::string& group : {kLs, kLsPod, kLsContainer}) usage(group, totals_[1]);
  for (const std::string& group : {kBe, kBePod, kBeContainer}) usage(group, totals_[2]);
}

void EnforceBench::say(const std::string& kind, const std::string& json) {
  running_ ? scene.event(kind, "MODIFIED", json) : scene.put(kind, json);
}

void EnforceBench::slo(const std::string& members) {
  hasSlo_ = true;
  say("NodeSLO",
      fmt::format(R"({{"kind":"NodeSLO","metadata":{{"name":"n1","resourceVersion":"{}"}},)"
                  R"("spec":{{{}}}}})",
                  nextVersion(), members));
}

void EnforceBench::node(const std::string& labels, const std::string& annotations) {
  hasNode_ = true;
  say("Node",
      fmt::format(
          R"({{"kind":"Node","metadata":{{"name":"n1","resourceVersion":"{}","labels":{},)"
          R"("annotations":{}}},"status":{{"capacity":{{"cpu":"8","memory":"8Gi"}},)"
          R"("allocatable":{{"cpu":"8","memory":"8Gi","kubernetes.io/batch-cpu":"1000"}}}}}})",
          nextVersion(), labels, annotations));
}

void EnforceBench::topology(const std::string& annotations) {
  say("NodeResourceTopology",
      fmt::format(R"({{"metadata":{{"name":"n1","resourceVersion":"{}","annotations":{}}}}})",
                  nextVersion(), annotations));
}

void EnforceBench::pod(const std::string& name, const std::string& uid, const std::string& qos,
                       const std::string& kubeQos, const std::string& annotations,
                       const std::string& resources, const std::string& labels) {
  const std::string id = uid == "ls-1" ? "cls" : uid == "be-1" ? "cbe" : "c-" + uid;
  say("Pod",
      fmt::format(
          R"({{"kind":"Pod","metadata":{{"name":"{}","namespace":"d","uid":"{}",)"
          R"("resourceVersion":"{}","labels":{{"koordinator.sh/qosClass":"{}"{}}},)"
          R"("annotations":{}}},"spec":{{"nodeName":"n1","priority":5500,"containers":[)"
          R"({{"name":"main","resources":{}}}]}},"status":{{"phase":"Running","qosClass":"{}",)"
          R"("containerStatuses":[{{"name":"main","containerID":"containerd://{}",)"
          R"("state":{{"running":{{}}}}}}]}}}})",
          name, uid, nextVersion(), qos, labels, annotations, resources, kubeQos, id));
}

void EnforceBench::start() {
  if (!hasNode_) node("{}");
  scene.start();
  running_ = true;
  enforcer =
      std::make_unique<Enforcer>(EnforcerSetup{scene.agent().machine(), scene.clock, gates, audit,
                                               [this](const Ousting& one) {
                                                 if (refuse) return false;
                                                 evicted.push_back(one);
                                                 return true;
                                               }},
                                 EnforcerOptions{}, std::move(strategies_));
  scene.agent().onLook([this](const Look& look) {
    last = enforcer->tick(look, scene.agent().node().get(), scene.agent().topology().get());
  });
}

void EnforceBench::seconds(int count) {
  scene.ticks(count, [&](int) { advance(); });
}

std::string EnforceBench::read(const std::string& controller, const std::string& cgroup,
                               const std::string& file) const {
  return std::string(trim(fs.read(kTree + controller + "/" + cgroup + "/" + file)));
}

void EnforceBench::write(const std::string& controller, const std::string& cgroup,
                         const std::string& file, const std::string& text) {
  fs.write(kTree + controller + "/" + cgroup + "/" + file, text + "\n");
}

}  // namespace mangrove::agent::testing
