#include "agent/qos/testing/machine_bench.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "agent/gates.h"
#include "base/check.h"
#include "base/text/strings.h"
#include "kernel/control_files.h"
#include "kernel/meminfo.h"

namespace mangrove::agent::testing {
namespace {

namespace fs = std::filesystem;
using kernel::PodTier;

PodTier tierOf(const std::string& name) {
  return name == "guaranteed"  ? PodTier::kGuaranteed
         : name == "burstable" ? PodTier::kBurstable
                               : PodTier::kBestEffort;
}

const char* kubeQosName(const std::string& tier) {
  return tier == "guaranteed" ? "Guaranteed" : tier == "burstable" ? "Burstable" : "BestEffort";
}

// What every kernel has; the rest a machine has or has not.
constexpr std::pair<std::string_view, std::string_view> kAlways[] = {
    {"cpu.shares", "2"},
    {"cpu.cfs_quota_us", "-1"},
    {"cpu.cfs_period_us", "100000"},
    {"cpuset.cpus", ""},
    {"memory.limit_in_bytes", "9223372036854771712"},
    {"cgroup.procs", ""},
    {"tasks", ""},
    {"io.max", ""},
    {"io.weight", "default 100"},
    {"blkio.throttle.read_bps_device", ""},
    {"blkio.throttle.write_bps_device", ""},
    {"blkio.throttle.read_iops_device", ""},
    {"blkio.throttle.write_iops_device", ""},
};

std::string asV2(std::string_view resource, std::string_view text) {
  if (resource == "cpu.cfs_quota_us") return "max 100000";
  if (resource == "cpu.shares") return "1";
  if (resource == "memory.limit_in_bytes") return "max";
  return std::string(text);
}

}  // namespace

MachineBench::MachineBench(const std::string& machineDir,
                           std::vector<std::unique_ptr<Strategy>> strategies)
    : gates([] {
        std::vector<GateInfo> all(agentGates().begin(), agentGates().end());
        all.insert(all.end(), hookGates().begin(), hookGates().end());
        return all;
      }()),
      strategies_(std::move(strategies)) {
  fs::copy(machineDir, fs.path(), fs::copy_options::recursive);
  auto trees = kernel::Hierarchies::detect(fs.root(), {});
  CHECK(trees, "{}", trees.error().text());
  trees_ = std::make_unique<kernel::Hierarchies>(*trees);
  const auto driver = kernel::findDriver(fs.root(), *trees_);
  layout_ = kernel::CgroupLayout(driver.value_or(kernel::CgroupDriver::kSystemd));
  AgentOptions setup;
  setup.machine.live = false;
  setup.configDir = fs.path() / "agent-state";
  setup.topology.enabled = true;
  setup.collect.storage = true;
  setup.collect.machineInterval = std::chrono::hours(1);
  scene = std::make_unique<Scene>(fs.path(), setup);
  auto machine = Machine::open({.root = fs.path(), .live = false});
  CHECK(machine, "{}", machine.error().text());
  cpus_ = static_cast<int64_t>((*machine)->cpus().cpus.size());
  online_ = (*machine)->cpus().online;
  for (PodTier tier : {PodTier::kGuaranteed, PodTier::kBurstable, PodTier::kBestEffort}) {
    // The pods that were there when the machine was captured are not ours to move.
    addControls(layout_.tierDir(tier));
    const std::string cpus = (*machine)->cpus().online.text();
    write(layout_.tierDir(tier), "cpuset.cpus", cpus);
  }
  for (const char* uid : {"1", "2", "3"}) {
    const PodTier tier = uid[0] == '1'   ? PodTier::kGuaranteed
                         : uid[0] == '2' ? PodTier::kBurstable
                                         : PodTier::kBestEffort;
    const std::string dir =
        layout_.podDir(tier, fmt::format("0a1b2c3d-0000-4000-8000-00000000000{}", uid));
    for (kernel::Controller c :
         {kernel::Controller::kCpu, kernel::Controller::kCpuacct, kernel::Controller::kCpuset,
          kernel::Controller::kMemory, kernel::Controller::kBlkio})
      if (const std::string path = trees_->path(c, dir); fs.exists(path)) fs.remove(path);
    if (fs.exists(trees_->pressurePath(dir))) fs.remove(trees_->pressurePath(dir));
  }
  auto info = kernel::parseMemInfo(fs.read("proc/meminfo"));
  memory_ = info ? info->total.v : int64_t{8} << 30;
  advance();
}

MachineBench::Sim& MachineBench::at(const std::string& name) {
  auto found = pods_.find(name);
  CHECK(found != pods_.end(), "no pod '{}'", name);
  return found->second;
}

std::string MachineBench::cgroupOf(const std::string& where) const {
  if (where == "BE") return layout_.tierDir(PodTier::kBestEffort);
  if (where == "LS") return layout_.tierDir(PodTier::kBurstable);
  const auto halves = cut(where, '/');
  auto found = pods_.find(std::string(halves.before));
  if (found == pods_.end()) return where;
  const Sim& sim = found->second;
  const std::string dir = layout_.podDir(tierOf(sim.spec.tier), sim.uid);
  return halves.found ? layout_.containerDir(dir, "containerd://c" + sim.spec.name).value() : dir;
}

std::string MachineBench::pathOf(const std::string& where, const std::string& resource) const {
  const kernel::ControlResource* control = kernel::findResource(resource);
  if (control == nullptr) return where.empty() ? resource : where + "/" + resource;
  return kernel::filePath(*trees_, *control, cgroupOf(where)).value_or("none");
}

std::string MachineBench::read(const std::string& where, const std::string& resource) const {
  const std::string path = pathOf(where, resource);
  return fs.exists(path) ? std::string(trim(fs.read(path))) : "(none)";
}

void MachineBench::write(const std::string& where, const std::string& resource,
                         const std::string& text) {
  fs.write(pathOf(where, resource), text + "\n");
}

void MachineBench::addControls(const std::string& cgroup) {
  for (const auto& [resource, value] : kAlways) {
    const kernel::ControlResource& control = *kernel::findResource(resource);
    const auto path = kernel::filePath(*trees_, control, cgroup);
    if (!path || fs.exists(*path)) continue;
    if (control.controller == kernel::Controller::kBlkio && !trees_->isV2() &&
        !trees_->has(kernel::Controller::kBlkio))
      continue;
    if (resource == "cpu.cfs_period_us" && trees_->isV2()) continue;
    fs.write(*path, (trees_->isV2() ? asV2(resource, value) : std::string(value)) + "\n");
  }
}

// The files that a sibling of the same machine has, and the usual ones.
void MachineBench::make(const Sim& sim) {
  const std::string tier = layout_.tierDir(tierOf(sim.spec.tier));
  const std::string dir = layout_.podDir(tierOf(sim.spec.tier), sim.uid);
  for (const std::string& cgroup :
       {dir, layout_.containerDir(dir, "containerd://c" + sim.spec.name).value()}) {
    for (const kernel::ControlResource& control : kernel::controlResources()) {
      const auto from = kernel::filePath(*trees_, control, tier);
      const auto to = kernel::filePath(*trees_, control, cgroup);
      if (from && to && fs.exists(*from) && !fs.exists(*to)) fs.write(*to, fs.read(*from));
    }
    addControls(cgroup);
  }
}

void MachineBench::pod(const SimPod& pod) {
  const bool isNew = pods_.count(pod.name) == 0;
  Sim& sim = pods_[pod.name];
  sim.spec = pod;
  if (isNew) {
    sim.uid = fmt::format("00000000-0000-4000-8000-{:012}", next_++);
    make(sim);
    count(cgroupOf(pod.name), sim.total, 0);
    count(cgroupOf(pod.name + "/c"), sim.total, 0);
  }
  const std::string text = fmt::format(
      R"({{"kind":"Pod","metadata":{{"name":"{}","namespace":"d","uid":"{}",)"
      R"("resourceVersion":"{}","labels":{{"app":"x"{}{}}},"annotations":{}}},)"
      R"("spec":{{"nodeName":"n1","priority":{},"containers":[{{"name":"main","resources":{}}}]}},)"
      R"("status":{{"phase":"Running","qosClass":"{}","containerStatuses":[{{"name":"main",)"
      R"("containerID":"containerd://c{}","state":{{"running":{{}}}}}}]}}}})",
      pod.name, sim.uid, version_++,
      pod.qos.empty() ? "" : fmt::format(R"(,"koordinator.sh/qosClass":"{}")", pod.qos), pod.labels,
      pod.annotations, pod.priority, pod.resources, kubeQosName(pod.tier), pod.name);
  if (!running_)
    scene->put("Pod", text);
  else
    scene->event("Pod", isNew ? "ADDED" : "MODIFIED", text);
}

void MachineBench::remove(const std::string& name) {
  const Sim sim = at(name);
  const std::string dir = cgroupOf(name);
  for (kernel::Controller c :
       {kernel::Controller::kCpu, kernel::Controller::kCpuacct, kernel::Controller::kCpuset,
        kernel::Controller::kMemory, kernel::Controller::kBlkio})
    if (const std::string path = trees_->path(c, dir); fs.exists(path)) fs.remove(path);
  if (fs.exists(trees_->pressurePath(dir))) fs.remove(trees_->pressurePath(dir));
  scene->event("Pod", "DELETED",
               fmt::format(R"({{"kind":"Pod","metadata":{{"name":"{}","namespace":"d","uid":"{}",)"
                           R"("resourceVersion":"{}"}},"spec":{{"nodeName":"n1"}}}})",
                           name, sim.uid, version_++));
  pods_.erase(name);
}

void MachineBench::threads(const std::string& name, const std::string& ids) {
  std::string lines;
  for (std::string_view id : splitTrimmed(ids, ',')) lines += std::string(id) + "\n";
  write(name + "/c", "tasks", lines);
  write(name + "/c", "cgroup.procs", lines);
}

void MachineBench::say(const std::string& kind, const std::string& json) {
  running_ ? scene->event(kind, "MODIFIED", json) : scene->put(kind, json);
}

void MachineBench::slo(const std::string& members) {
  say("NodeSLO",
      fmt::format(R"({{"kind":"NodeSLO","metadata":{{"name":"n1","resourceVersion":"{}"}},)"
                  R"("spec":{{{}}}}})",
                  version_++, members));
}

void MachineBench::node(const std::string& labels, const std::string& annotations) {
  hasNode_ = true;
  say("Node",
      fmt::format(R"({{"kind":"Node","metadata":{{"name":"n1","resourceVersion":"{}","labels":{},)"
                  R"("annotations":{}}},"status":{{"capacity":{{"cpu":"{}","memory":"{}"}},)"
                  R"("allocatable":{{"cpu":"{}","memory":"{}"}}}}}})",
                  version_++, labels, annotations, cpus_, memory_, cpus_, memory_));
}

void MachineBench::topology(const std::string& annotations) {
  say("NodeResourceTopology",
      fmt::format(R"({{"metadata":{{"name":"n1","resourceVersion":"{}","annotations":{}}}}})",
                  version_++, annotations));
}

void MachineBench::count(const std::string& cgroup, double seconds, int64_t memory,
                         double throttles) {
  const auto put = [&](const char* resource, const std::string& text) {
    if (const auto path = kernel::filePath(*trees_, *kernel::findResource(resource), cgroup))
      fs.write(*path, text);
  };
  const std::string periods =
      fmt::format("nr_periods {}\nnr_throttled {}\n", static_cast<int64_t>(periods_),
                  static_cast<int64_t>(throttles));
  if (trees_->isV2()) {
    put("cpu.stat", fmt::format("usage_usec {}\n{}throttled_usec 0\n",
                                static_cast<int64_t>(seconds * 1e6), periods));
  } else {
    put("cpuacct.usage", fmt::format("{}\n", static_cast<int64_t>(seconds * 1e9)));
    put("cpu.stat", periods + "throttled_time 0\n");
  }
  std::string stat;
  for (const char* prefix : {"", "total_"})
    stat += fmt::format(
        "{0}inactive_anon {1}\n{0}active_anon 0\n{0}unevictable 0\n{0}inactive_file 0\n"
        "{0}active_file 0\n{0}cache 0\n{0}rss {1}\n",
        prefix, memory);
  put("memory.stat", stat);
  // What v2 grants is what was asked for, here.
  if (!trees_->isV2()) return;
  const auto asked = kernel::filePath(*trees_, *kernel::findResource("cpuset.cpus"), cgroup);
  if (!fs.exists(*asked) || trim(fs.read(*asked)).empty()) return;
  put("cpuset.cpus.effective", fs.read(*asked));
}

std::string MachineBench::eachCpu() {
  const auto add = [&](const CpuSet& cpus, double cores) {
    for (int cpu : cpus) perCpu_[cpu] += cores / static_cast<double>(cpus.size());
  };
  for (const auto& [name, sim] : pods_) {
    const auto cpus = CpuSet::parse(read(name + "/c", "cpuset.cpus"));
    add(cpus && !cpus->empty() ? *cpus : online_, sim.cores);
  }
  add(online_, system_);
  std::string out;
  for (int cpu : online_)
    out +=
        fmt::format("cpu{} {} 0 0 1 0 0 0 0 0 0\n", cpu, static_cast<int64_t>(perCpu_[cpu] * 100));
  return out;
}

void MachineBench::advance() {
  std::map<PodTier, double> tiers;
  double all = 0;
  int64_t memory = 0;
  periods_ += 10;
  for (auto& [name, sim] : pods_) {
    sim.total += sim.cores;
    sim.throttles += 10 * sim.throttled;
    all += sim.cores;
    memory += sim.memory;
    count(cgroupOf(name), sim.total, sim.memory, sim.throttles);
    count(cgroupOf(name + "/c"), sim.total, sim.memory, sim.throttles);
    tiers[tierOf(sim.spec.tier)] += sim.total;
  }
  double sum = 0;
  for (PodTier tier : {PodTier::kBestEffort, PodTier::kBurstable, PodTier::kGuaranteed}) {
    sum += tiers[tier];
    count(layout_.tierDir(tier), tier == PodTier::kGuaranteed ? sum : tiers[tier], memory);
  }
  total_ += all + system_;
  fs.write("proc/stat",
           fmt::format("cpu  {} 0 0 1 0 0 0 0 0 0\n", static_cast<int64_t>(total_ * 100)) +
               (eachCpu_ ? eachCpu() : ""));
  fs.write("proc/meminfo", fmt::format("MemTotal: {} kB\nMemFree: 100 kB\nMemAvailable: {} kB\n",
                                       memory_ / 1024, (memory_ - memory) / 1024));
}

void MachineBench::join() {
  if (!options.dryRun) options.stateFile = fs.path() / "enforce.json";
  enforcer = std::make_unique<Enforcer>(
      EnforcerSetup{scene->agent().machine(), scene->clock, gates, audit,
                    [this](const Ousting& one) {
                      if (refuse) return false;
                      evicted.push_back(one);
                      return true;
                    },
                    tools},
      options, strategies_.empty() ? defaultStrategies() : std::move(strategies_));
  // A killed agent lives on in the test; nobody listens to it.
  scene->agent().onLook([this, mine = &scene->agent()](const Look& look) {
    if (mine != &scene->agent()) return;
    last = enforcer->tick(look, scene->agent().node().get(), scene->agent().topology().get(),
                          scene->agent().knowsPods());
  });
}

void MachineBench::start() {
  if (!hasNode_) node();
  began_ = scene->clock.wall();
  scene->start();
  running_ = true;
  join();
}

void MachineBench::seconds(int count) {
  scene->ticks(count, [&](int) { advance(); });
}

void MachineBench::killAndRestart() {
  strategies_.clear();
  scene->killAndRestart();
  join();
}

std::string MachineBench::shortName(const std::string& cgroup) const {
  if (cgroup == layout_.tierDir(PodTier::kBestEffort)) return "BE";
  if (cgroup == layout_.tierDir(PodTier::kBurstable)) return "LS";
  for (const auto& [name, sim] : pods_) {
    if (cgroup == cgroupOf(name)) return name;
    if (cgroup == cgroupOf(name + "/c")) return name + "/c";
  }
  return cgroup;
}

std::vector<std::string> MachineBench::writes() {
  std::vector<std::string> out;
  const std::vector<AuditRecord> records =
      audit.last(0, static_cast<size_t>(audit.count() - told_));
  told_ = audit.count();
  for (auto it = records.rbegin(); it != records.rend(); ++it) {
    const auto at = std::chrono::duration_cast<std::chrono::seconds>(it->at - began_).count();
    out.push_back(fmt::format(
        "{}s {} {}: {} -> {}{} | {}: {}", at, shortName(it->cgroup), it->file, it->from, it->to,
        it->outcome == "written" ? "" : " (" + it->outcome + ")", it->owner, it->why));
  }
  return out;
}

}  // namespace mangrove::agent::testing
