#pragma once
// Background reclaim near a limit, where the kernel has no memory.wmark_ratio of its own: a cgroup
// that fills `ratio` percent of what it may hold gives back pages that can be read again, until it
// is `scale` permille of the limit below that, so that its own allocations need not wait.
//
//   WatermarkKeeper keeper(root, clock);
//   for (const WatermarkReport& done : keeper.turn(trees, marks, canReclaim, dryRun)) …
//
// cgroup v2: memory.reclaim, at most 64 MiB at once. v1: the limit is lowered to what is wanted and
// put back at once; the kernel reclaims before it agrees to the lower one. Only where twice as much
// page cache is there, so that nobody meets the lower limit with nothing to give. One thread.

#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/number/units.h"
#include "base/result.h"
#include "kernel/hierarchies.h"
#include "kernel/sys_root.h"

namespace mangrove::agent {

struct ReclaimMark {
  std::string cgroup;
  int64_t ratioPercent = 0;
  int64_t scalePermill = 0;
};

struct WatermarkSight {
  Bytes current;
  Bytes limit;  // 0 or less: none
  Bytes file;   // inactive page cache
  bool active = false;
};

// How much to take at once. Zero: below the mark, without a limit, or nothing to take. Pure.
Bytes watermarkStep(const WatermarkSight& sight, const ReclaimMark& mark, Bytes most = kMiB * 64);

struct WatermarkReport {
  std::string cgroup;
  Bytes wanted, freed;
  Duration took{};
  std::string outcome;  // "done", or what the kernel said
};

class WatermarkKeeper {
 public:
  WatermarkKeeper(const kernel::SysRoot& root, const Clock& clock) : root_(root), clock_(clock) {}
  // One step for each cgroup above its mark.
  std::vector<WatermarkReport> turn(const kernel::Hierarchies& trees,
                                    const std::vector<ReclaimMark>& marks, bool canReclaim,
                                    bool dryRun);

 private:
  WatermarkSight look(const kernel::Hierarchies& trees, const std::string& cgroup) const;
  Result<> take(const kernel::Hierarchies& trees, const std::string& cgroup, Bytes current,
                Bytes bytes) const;

  const kernel::SysRoot& root_;
  const Clock& clock_;
  std::set<std::string> active_;  // above the mark, not yet below its end
};

}  // namespace mangrove::agent
