#pragma once
// The canary's experiment: two cgroups of its own beside the pods', two processes on one CPU. The one
// in the idle class must get next to nothing while the other works, and with a quota of a hundredth
// it must get about that. About 15 ms of CPU time a round.
//
//   auto cell = CanaryCell::make(root, trees, "mangrove-canary");
//   CanaryRound round = cell->round();                       // takes about a third of a second
//
// Needs root. Forks: for a process without threads (`mangrove agent canary`). One owner.

#include <string>

#include "agent/canary/alarms.h"
#include "base/result.h"
#include "kernel/hierarchies.h"
#include "kernel/sys_root.h"

namespace mangrove::agent {

class CanaryCell {
 public:
  static Result<CanaryCell> make(const kernel::SysRoot& root, kernel::Mounts mounts,
                                 const std::string& parent);
  CanaryCell(CanaryCell&&) = default;
  ~CanaryCell();

  CanaryRound round() const;

 private:
  CanaryCell(const kernel::SysRoot& root, kernel::Hierarchies trees)
      : root_(&root), trees_(std::move(trees)) {}
  std::string file(std::string_view cgroup, std::string_view resource) const;
  Result<> put(std::string_view cgroup, std::string_view resource, const std::string& value) const;
  int start(std::string_view cgroup, int cpu, double seconds) const;
  double used(std::string_view cgroup) const;
  void measureIdle(CanaryRound& out) const;
  void measureQuota(CanaryRound& out) const;

  const kernel::SysRoot* root_;
  kernel::Hierarchies trees_;
  bool made_ = false;
};

}  // namespace mangrove::agent
