#pragma once
// How busy the machine was between two moments and who it was: the demo's own pods and processes,
// strangers, the hypervisor.
//
//   const Reading before = meter.read();
//   …
//   Shares shares = sharesBetween(before, meter.read());

#include <string>
#include <vector>

#include <sys/types.h>

#include "base/number/units.h"
#include "base/result.h"
#include "kernel/hierarchies.h"
#include "kernel/sys_root.h"

namespace mangrove::demo {

// CPU seconds so far.
struct Reading {
  MonoTime at{};
  double busy = 0, steal = 0;  // of the machine
  double pods = 0;             // below the demo's cgroup
  double own = 0;              // the demo's processes outside of it
};
// Cores.
struct Shares {
  double seconds = 0;
  double busy = 0, steal = 0, strangers = 0;
  double pods = 0, own = 0;
};
// Pure.
Shares sharesBetween(const Reading& before, const Reading& after);
// Field 8 of the line "cpu " of /proc/stat, in ticks; 0 where the kernel has none.
uint64_t stealTicks(std::string_view procStat);

class Meter {
 public:
  // `cgroup`: below which the pods are.
  static Result<Meter> make(const std::string& cgroup);
  // `others`: processes of ours that are not below the cgroup and still run. Children that were
  // waited for count by themselves.
  Reading read(const std::vector<pid_t>& others) const;

 private:
  explicit Meter(kernel::Hierarchies trees) : trees_(std::move(trees)) {}
  kernel::SysRoot root_;
  kernel::Hierarchies trees_;
};

}  // namespace mangrove::demo
