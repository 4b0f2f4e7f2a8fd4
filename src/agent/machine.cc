#include "agent/machine.h"

#include <map>

#include <unistd.h>

#include "agent/report/kubelet_process.h"
#include "base/os/log.h"
#include "kernel/numa.h"
#include "kernel/read_text.h"
#include "kernel/recorded_facts.h"
#include "kernel/scan.h"

namespace mangrove::agent {
namespace {

const Logger log("agent");
constexpr size_t kLongestCommandLine = 64 * 1024;

// CPUs come and go, but none moves to another core or node while the machine runs: a look that says
// so is wrong. `before` empty: everything is new.
Result<> samePlaces(const kernel::CpuTopology& before, const kernel::CpuTopology& now) {
  if (before.cpus.empty()) return {};
  if (before.possible != now.possible)
    return invalid("{} possible ones, and there were {}", now.possible, before.possible);
  if (now.placeless > before.placeless)
    return invalid("{} of them do not say which core they are on", now.placeless);
  std::map<int, int> olds, news;  // cores are numbered anew in each look
  for (const kernel::LogicalCpu& cpu : now.cpus) {
    const kernel::LogicalCpu* old = before.find(cpu.id);
    if (old == nullptr) continue;
    const bool same = olds.emplace(cpu.core, old->core).first->second == old->core &&
                      news.emplace(old->core, cpu.core).first->second == cpu.core;
    if (!same || cpu.node != old->node)
      return invalid("CPU {} moved to another core or node", cpu.id);
  }
  return {};
}

}  // namespace

std::optional<kernel::CgroupDriver> driverOfRunningKubelet(const kernel::SysRoot& root,
                                                           const kernel::Mounts& mounts) {
  for (const std::string& dir : kubeletDirs(root, mounts)) {
    auto cmdline = kernel::readText(root, dir + "/cmdline", kLongestCommandLine);
    if (!cmdline || !*cmdline) continue;
    std::string config = kernel::kubeletConfigPath(**cmdline);
    // The file as the kubelet sees it: through its own root, relative to its own directory.
    if (!config.empty())
      config = dir + (config.starts_with('/') ? "/root" + config : "/cwd/" + config);
    auto text = kernel::readText(root, config);
    auto driver = kernel::driverOfKubelet(**cmdline, text && *text ? **text : std::string());
    if (driver) return *driver;
    log.warn("{}", driver.error().text());
  }
  return std::nullopt;
}

bool isThisMachine(const std::string& root) {
  if (root == "/") return true;
  constexpr const char* kBoot = "proc/sys/kernel/random/boot_id";
  const auto theirs = kernel::readWord(kernel::SysRoot(root), kBoot);
  return theirs && theirs == kernel::readWord(kernel::SysRoot("/"), kBoot);
}

std::optional<Duration> Machine::uptime() const {
  const auto text = kernel::readWord(root_, options_.mounts.procFile("uptime"));
  const auto seconds = text ? kernel::parseDecimal(text->substr(0, text->find(' '))) : std::nullopt;
  if (!seconds || *seconds < 0 || *seconds > 1e9) return std::nullopt;
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(*seconds));
}

MachineOptions liveMachine(std::string root) {
  MachineOptions options;
  options.root = std::move(root);
  const long ticks = ::sysconf(_SC_CLK_TCK), page = ::sysconf(_SC_PAGESIZE);
  if (ticks > 0) options.jiffy = Duration(std::chrono::seconds(1)) / ticks;
  if (page > 0) options.pageSize = Bytes{page};
  return options;
}

Machine::Machine(MachineOptions options, kernel::SysRoot root, kernel::Hierarchies trees)
    : options_(std::move(options)),
      root_(std::move(root)),
      trees_(std::move(trees)),
      layout_(chooseDriver(), options_.bestEffort) {
  readNuma();
  bootId_ = kernel::readWord(root_, mounts().procFile("sys/kernel/random/boot_id")).value_or("");
}

Result<std::unique_ptr<Machine>> Machine::open(MachineOptions options) {
  kernel::SysRoot root(options.root);
  auto trees = kernel::Hierarchies::detect(root, options.mounts);
  if (!trees) return trees.error().in("machine at {}", options.root);
  std::unique_ptr<Machine> machine(new Machine(std::move(options), std::move(root), *trees));
  auto cpus = machine->refreshCpus();
  if (!cpus) return cpus.error().in("machine at {}", machine->options_.root);
  machine->refreshLayout();
  return machine;
}

kernel::CgroupDriver Machine::chooseDriver() const {
  if (options_.driver) return *options_.driver;
  if (auto found = kernel::findDriver(root_, trees_)) return *found;
  return driverOfRunningKubelet(root_, options_.mounts).value_or(kernel::CgroupDriver::kSystemd);
}

void Machine::readNuma() {
  auto ids = kernel::numaIds(root_, mounts());
  numa_ = ids ? *ids : std::vector<int>{};
  numaTrouble_ = ids ? Result<>() : pass(ids.error());
}

Result<bool> Machine::refreshCpus() {
  auto cpus = kernel::readCpuTopology(root_, mounts());
  if (!cpus) return cpus.error().in("CPUs");
  if (auto ok = samePlaces(cpus_, *cpus); !ok) return ok.error().in("CPUs");
  readNuma();
  const bool changed = *cpus != cpus_;
  cpus_ = *std::move(cpus);
  basics_ = kernel::readCpuBasics(root_, mounts(), cpus_);
  return changed;
}

void Machine::noticeResctrl() {
  const std::string file = kernel::joinPath({mounts().resctrl, "schemata"});
  if (can_.has(kernel::Feature::kResctrl) || !root_.exists(file).value_or(false)) return;
  probe();
}

void Machine::refreshLayout() {
  layout_ = kernel::CgroupLayout(chooseDriver(), options_.bestEffort);
  probe();
}

void Machine::probe() {
  can_ =
      kernel::probeCapabilities(root_, mounts(), trees_, layout_,
                                options_.live ? kernel::probeLive() : kernel::recordedFacts(root_));
}

}  // namespace mangrove::agent
