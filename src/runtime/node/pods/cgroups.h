#pragma once
// The pods' cgroups, laid out as a kubelet does with the cgroupfs driver:
//
//   ROOT/kubepods/{,burstable,besteffort}/pod<uid>/<container id>
//   ROOT/kubepods-besteffort/pod<uid>/<container id>       (BestEffortPlace::kBeside)
//
// in the unified tree (v2), or in every v1 hierarchy and the controller-less unified one beside
// them. Made with their first values and left alone afterwards: the agent owns what comes later.
//
//   auto cgroups = Cgroups::open(root, "");
//   cgroups->make(cgroups->podPath(qos, uid), values);
//
// Any thread; two threads must not work on the same pod.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod/pod.h"
#include "base/result.h"
#include "kernel/cgroup_layout.h"
#include "kernel/cgroup_version.h"
#include "kernel/sys_root.h"
#include "runtime/core/cgroup_values.h"

namespace mangrove::runtime {

class Cgroups {
 public:
  // `parent` is put before "kubepods", like the kubelet's --cgroup-root.
  static Result<Cgroups> open(
      const kernel::SysRoot& root, std::string parent,
      kernel::BestEffortPlace bestEffort = kernel::BestEffortPlace::kInside);

  // The same through another root object: a Cgroups keeps a pointer to its root.
  Cgroups over(const kernel::SysRoot& root) const {
    Cgroups same = *this;
    same.root_ = &root;
    return same;
  }

  bool isV2() const { return version_ == kernel::CgroupVersion::kV2; }
  std::string tierPath(api::KubeQos qos) const;
  std::string podPath(api::KubeQos qos, std::string_view uid) const;

  // Version 2 gives controllers only to children of a cgroup without processes. Whoever is in the
  // one that is to hold kubepods (this process, when it was given that cgroup) moves to a leaf
  // beside it, "mangrove". The machine's own top is exempt.
  Result<> emptyParent() const;
  // An out-of-memory kill takes the whole container, as a kubelet sets it on version 2.
  void killTogether(const std::string& path) const;
  // Makes the directory in every tree, parents included, and writes the values. Exists already:
  // only the values are written.
  Result<> make(const std::string& path, const CgroupValues& values) const;
  // Other values for a cgroup that is there, limits that end included.
  Result<> resize(const std::string& path, const CgroupValues& values) const;
  // What the processes below it use now; nullopt when nobody counts.
  std::optional<Bytes> memoryUsage(const std::string& path) const;
  // Directories below the machine's root that a process of this cgroup joins.
  std::vector<std::string> joinDirs(const std::string& path) const;
  // Whether a path lies below the pods' directories: nothing else is ever killed or removed, because an empty
  // path would mean every process of the machine.
  bool isPods(const std::string& path) const;
  // Ends every process below, at once, but our own.
  void kill(const std::string& path) const;
  // Removes it and everything below. kUnavailable while a process is still there.
  Result<> remove(const std::string& path) const;
  bool exists(const std::string& path) const;
  // kubepods with its branches and what is beside it, and the parent when it holds nothing else.
  void removeAll() const;
  // Pods that have a cgroup here: uid and path.
  std::vector<std::pair<std::string, std::string>> pods() const;
  // Of kubepods and its two branches, when the sum of requests has changed.
  void setTierShares(api::KubeQos qos, int64_t shares) const;

 private:
  struct Tree {
    std::string dir;                       // below the root: "sys/fs/cgroup/cpu,cpuacct"
    std::vector<std::string> controllers;  // "cpu", "cpuacct"; empty for the unified one
  };
  Cgroups(const kernel::SysRoot& root, std::string parent, kernel::BestEffortPlace bestEffort)
      : root_(&root),
        parent_(std::move(parent)),
        layout_(kernel::CgroupDriver::kCgroupfs, bestEffort) {}
  Result<> findTrees();
  Result<> removeTree(const std::string& path) const;
  Result<> writeAll(const std::string& path, const std::vector<ControlWrite>& writes) const;
  Result<> makeIn(const Tree& tree, const std::string& path) const;
  const Tree* treeOf(std::string_view controller) const;

  const kernel::SysRoot* root_;
  std::string parent_;
  kernel::CgroupLayout layout_;
  kernel::CgroupVersion version_ = kernel::CgroupVersion::kV1;
  std::vector<Tree> trees_;
};

}  // namespace mangrove::runtime
