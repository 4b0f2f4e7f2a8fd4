#pragma once
// The machine an agent looks after: its root, where its trees are, what it can do, what CPUs it
// has. Found out at start and again when CPUs come or go.
//
//   Result<std::unique_ptr<Machine>> machine = Machine::open({.root = "/"});
//   machine->trees().path(kernel::Controller::kMemory, "kubepods.slice")
//
// Owned by the agent, used from its owner thread; const access from any thread between refreshes.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"
#include "kernel/capabilities.h"
#include "kernel/cgroup_layout.h"
#include "kernel/cpu_topology.h"
#include "kernel/hierarchies.h"
#include "kernel/sys_root.h"

namespace mangrove::agent {

struct MachineOptions {
  std::string root = "/";
  kernel::Mounts mounts = {};
  // nullopt: by the directory that is there, else by the kubelet's command line, else systemd.
  std::optional<kernel::CgroupDriver> driver = {};
  // Where whoever makes the pods' cgroups puts best-effort pods; a kubelet inside.
  kernel::BestEffortPlace bestEffort = kernel::BestEffortPlace::kInside;
  // Try system calls (perf, core scheduling, pressure triggers). Off for captured machines.
  bool live = true;
  Duration jiffy = std::chrono::milliseconds(10);  // 1/CLK_TCK; machineOptions() asks the system
  Bytes pageSize{4096};
};
// For the machine we run on: CLK_TCK and page size as the system says.
MachineOptions liveMachine(std::string root = "/");

// The machine under `root` is the one we run on: its own root, or its proc mounted elsewhere (the
// boot has the same id). False for a captured one.
bool isThisMachine(const std::string& root);

class Machine {
 public:
  static Result<std::unique_ptr<Machine>> open(MachineOptions options);

  const kernel::SysRoot& root() const { return root_; }
  const kernel::Mounts& mounts() const { return options_.mounts; }
  const kernel::Hierarchies& trees() const { return trees_; }
  const kernel::CgroupLayout& layout() const { return layout_; }
  const kernel::Capabilities& can() const { return can_; }
  const kernel::CpuTopology& cpus() const { return cpus_; }
  const kernel::CpuBasics& cpuBasics() const { return basics_; }
  // Nodes with memory, 0..n-1; empty when the machine does not say.
  const std::vector<int>& numaNodes() const { return numa_; }
  Duration jiffy() const { return options_.jiffy; }
  Bytes pageSize() const { return options_.pageSize; }
  const std::string& bootId() const { return bootId_; }
  // Since boot, with the time the machine was suspended; nullopt when it does not say.
  std::optional<Duration> uptime() const;
  // The most CPU time that can pass in one second of real time, in cores: every CPU there can be.
  double largestUsage() const { return static_cast<double>(cpus_.possible); }

  // Reads the CPUs again; true when they changed. The old ones stay on an error.
  Result<bool> refreshCpus();
  // Where the pods' cgroup appeared after start, or its driver was not known yet.
  void refreshLayout();
  // Where resctrl was mounted after start: by us, mostly.
  void noticeResctrl();
  Result<> numaTrouble() const { return numaTrouble_; }

 private:
  Machine(MachineOptions options, kernel::SysRoot root, kernel::Hierarchies trees);
  kernel::CgroupDriver chooseDriver() const;
  void readNuma();
  void probe();

  MachineOptions options_;
  kernel::SysRoot root_;
  kernel::Hierarchies trees_;
  kernel::CgroupLayout layout_;
  kernel::Capabilities can_;
  kernel::CpuTopology cpus_;
  kernel::CpuBasics basics_;
  std::vector<int> numa_;
  Result<> numaTrouble_;
  std::string bootId_;
};

// The cgroup driver of the kubelet that runs on this machine, by its command line; nullopt when
// there is none.
std::optional<kernel::CgroupDriver> driverOfRunningKubelet(const kernel::SysRoot& root,
                                                           const kernel::Mounts& mounts);

}  // namespace mangrove::agent
