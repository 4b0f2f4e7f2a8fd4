#include "agent/machine.h"

#include <unistd.h>

#include "base/log.h"
#include "base/strings.h"
#include "kernel/numa.h"
#include "kernel/read_text.h"

namespace mangrove::agent {
namespace {

const Logger log("agent");

bool isKubelet(std::string_view cmdline) {
  const std::string_view program = cmdline.substr(0, cmdline.find('\0'));
  return program == "kubelet" || program.ends_with("/kubelet");
}

}  // namespace

std::optional<kernel::CgroupDriver> driverOfRunningKubelet(const kernel::SysRoot& root,
                                                           const kernel::Mounts& mounts) {
  auto entries = root.list(mounts.proc);
  if (!entries) return std::nullopt;
  for (const kernel::Entry& entry : *entries) {
    if (!parseInt<int>(entry.name)) continue;
    const std::string dir = mounts.procFile(entry.name);
    auto cmdline = kernel::readText(root, dir + "/cmdline", 64 * 1024);
    if (!cmdline || !*cmdline || !isKubelet(**cmdline)) continue;
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
      layout_(chooseDriver()) {
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
  readNuma();
  const bool changed = *cpus != cpus_;
  cpus_ = *std::move(cpus);
  basics_ = kernel::readCpuBasics(root_, mounts(), cpus_);
  return changed;
}

void Machine::refreshLayout() {
  layout_ = kernel::CgroupLayout(chooseDriver());
  can_ = kernel::probeCapabilities(root_, mounts(), trees_, layout_,
                                   options_.live ? kernel::probeLive() : kernel::LiveFacts{});
}

}  // namespace mangrove::agent
