#pragma once
// Real pods for benchmarks: cgroups laid out as a kubelet does, below a parent of their own, each
// container with a real process that sleeps (or burns). Everything is removed at the end.
//
//   auto pods = PodCgroups::make("mangrove-bench-1");
//   pods->add(uid, 1);
//   pods->burn(uid);
//
// One owner. Needs root and a writable cgroup file system.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"
#include "kernel/hierarchies.h"
#include "kernel/sys_root.h"

namespace mangrove::agent {

class PodCgroups {
 public:
  static Result<PodCgroups> make(std::string parent);
  PodCgroups(PodCgroups&& other) noexcept = default;
  ~PodCgroups();

  // Container ids are "<uid without dashes><number>". Each has a sleeping process unless told not.
  Result<> add(const std::string& uid, int containers, bool processes = true,
               kernel::PodTier tier = kernel::PodTier::kBurstable);
  Result<> remove(const std::string& uid);
  // A process that uses one whole CPU until it is ended with the pod.
  Result<> burn(const std::string& uid);
  // A process in the pod's first container that does `work` and ends. Only what is safe after a
  // fork; call it before threads exist.
  Result<int> start(const std::string& uid, const std::function<void()>& work);
  // It was waited for already.
  void forget(int pid);
  // The cgroup of a pod, relative to the hierarchy, and of a tier.
  std::string podDir(const std::string& uid) const;
  static std::string tierDir(kernel::PodTier tier);
  std::string firstContainer(const std::string& uid) const;  // "": it has none
  const kernel::Hierarchies& trees() const { return trees_; }
  // The process started last in that pod; 0: none.
  int lastProcess(const std::string& uid) const;

  const std::string& parent() const { return parent_; }
  bool isV2() const { return trees_.isV2(); }
  size_t size() const { return pods_.size(); }

 private:
  explicit PodCgroups(std::string parent, kernel::Hierarchies trees);
  std::vector<std::string> dirsOf(const std::string& cgroup) const;
  Result<> makeDir(const std::string& cgroup) const;
  void removeDir(const std::string& cgroup) const;
  Result<int> spawn(const std::string& cgroup, const std::function<void()>& work) const;

  struct Pod {
    kernel::PodTier tier = kernel::PodTier::kBurstable;
    std::vector<std::string> containers;
    std::vector<int> processes;
  };
  std::string parent_;
  kernel::Hierarchies trees_;
  std::map<std::string, Pod> pods_;
};

}  // namespace mangrove::agent
