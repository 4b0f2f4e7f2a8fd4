#pragma once
// Which share of the time tasks of some cgroups waited for a CPU, from the kernel's own totals,
// through descriptors that stay open: a few microseconds each. Reading the totals makes the kernel
// bring them up to date, so a share over 25 ms is exact.
//
//   PressureMeter meter;
//   meter.follow(root, {"sys/fs/cgroup/unified/kubepods/burstable"});
//   double waited = meter.read(now);        // of the group that waited most
//
// One owner.

#include <optional>
#include <string>
#include <vector>

#include "base/number/units.h"
#include "kernel/file.h"
#include "kernel/psi_trigger.h"
#include "kernel/sys_root.h"

namespace mangrove::agent {

// The share of the time between two readings; nullopt when there is none to tell.
std::optional<double> stallShare(Duration before, Duration now, Duration elapsed);

class PressureMeter {
 public:
  // Directories with a cpu.pressure; those that are not there (yet) are left out and tried again.
  // With triggers the kernel is asked to say when a group waits too much.
  void follow(const kernel::SysRoot& root, const std::vector<std::string>& dirs, bool triggers);
  // The most any group waited since the reading before; 0 at the first.
  double read(MonoTime now);
  // The group that waited most at the last reading; "" when there is none.
  const std::string& worst() const { return worst_; }
  size_t groups() const { return groups_.size(); }
  // Descriptors to poll for POLLPRI; empty without triggers.
  std::vector<int> alarms() const;
  // Whether the kernel watches every group with a window shorter than 2 s.
  bool triggered() const;

 private:
  struct Group {
    std::string dir;
    kernel::File file;
    std::optional<kernel::PsiTrigger> trigger;
    std::optional<Duration> total;
    MonoTime at{};
  };
  void add(const kernel::SysRoot& root, const std::string& dir, bool triggers);

  std::vector<Group> groups_;
  std::string worst_;
};

}  // namespace mangrove::agent
