#pragma once
// Where the kernel's file systems are, and under which path each cgroup controller is found: one
// unified tree (v2), one tree per controller (v1), or v1 with a controller-less v2 tree beside it
// (hybrid), which then gives pressure.
//
//   Mounts mounts;                                          // the usual places
//   Result<Hierarchies> trees = Hierarchies::detect(root, mounts);
//   trees->path(Controller::kMemory, "kubepods.slice")      // sys/fs/cgroup/memory/kubepods.slice
//
// Values; pure but for detect, which looks at a few directories once.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kernel/cgroup_layout.h"
#include "kernel/cgroup_stat.h"
#include "kernel/sys_root.h"

namespace mangrove::kernel {

// Relative to the SysRoot. A DaemonSet mounts the host's trees elsewhere.
struct Mounts {
  std::string proc = "proc";
  std::string sys = "sys";
  std::string cgroup = "sys/fs/cgroup";
  std::string resctrl = "sys/fs/resctrl";
  // The cgroup below which pods and host applications are: a kubelet's --cgroup-root.
  std::string cgroupParent = {};

  std::string procFile(std::string_view name) const { return joinPath({proc, name}); }
  std::string sysFile(std::string_view name) const { return joinPath({sys, name}); }
};

enum class Controller : uint8_t {
  kCpu,
  kCpuacct,
  kCpuset,
  kMemory,
  kBlkio,
  kNetCls,
  kPerfEvent,
  kPids,
};
inline constexpr size_t kControllers = 8;
std::string_view controllerName(Controller controller);

class Hierarchies {
 public:
  // An error when there is no cgroup file system at all.
  static Result<Hierarchies> detect(const SysRoot& root, const Mounts& mounts);

  CgroupVersion version() const { return version_; }
  bool isV2() const { return version_ == CgroupVersion::kV2; }
  // v1 with a second, controller-less v2 tree.
  bool isHybrid() const { return hybrid_; }

  // Of a cgroup given relative to the parent of all pods; the controller does not matter under v2.
  std::string path(Controller controller, std::string_view cgroup) const;
  // The directory that has the pressure files of a cgroup: the v2 tree where there is one, else
  // cpuacct (Anolis kernels).
  std::string pressurePath(std::string_view cgroup) const;
  // False when this v1 machine did not mount the controller, or the v2 root does not list it.
  bool has(Controller controller) const { return has_[static_cast<size_t>(controller)]; }

 private:
  Hierarchies(CgroupVersion version, const Mounts& mounts)
      : version_(version), base_(mounts.cgroup), parent_(mounts.cgroupParent) {}

  CgroupVersion version_;
  bool hybrid_ = false;
  std::string base_;
  std::string parent_;
  std::array<bool, kControllers> has_{};
};

// By the directory that is there: kubepods.slice or kubepods; nullopt when neither is.
std::optional<CgroupDriver> findDriver(const SysRoot& root, const Hierarchies& trees);
// From a kubelet's command line (NUL-separated, as /proc/<pid>/cmdline) and, when it names a
// configuration file, that file's text. --cgroup-driver wins; without a word anywhere: cgroupfs.
Result<CgroupDriver> driverOfKubelet(std::string_view cmdline, std::string_view configText);
// The file after --config; "" when there is none.
std::string kubeletConfigPath(std::string_view cmdline);

}  // namespace mangrove::kernel
