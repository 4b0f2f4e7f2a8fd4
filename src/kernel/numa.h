#pragma once
// The NUMA nodes that have memory: their ids, their meminfo files, their huge pages.
//
//   Result<std::vector<int>> ids = numaIds(root, mounts);
//   numaMemInfoPath(mounts, 1)                        // sys/bus/node/devices/node1/meminfo
//
// Any thread.

#include <string>
#include <vector>

#include "base/number/cpu_set.h"
#include "base/number/units.h"
#include "base/result.h"
#include "kernel/hierarchies.h"
#include "kernel/sys_root.h"

namespace mangrove::kernel {

// Ascending. Nodes that only stand for a device (generic initiators) are left out. Ids that do not
// run from 0 without a gap are an error: consumers index by them.
Result<std::vector<int>> numaIds(const SysRoot& root, const Mounts& mounts);
// The rule itself: names as they are in the directory, and the text of has_generic_initiator.
Result<std::vector<int>> numaIdsOf(const std::vector<std::string>& names,
                                   std::string_view genericInitiators);
std::string numaMemInfoPath(const Mounts& mounts, int node);

struct HugePages {
  int64_t pages2Mi = 0;
  int64_t pages1Gi = 0;
  Bytes total() const;
  bool operator==(const HugePages&) const = default;
};
HugePages readHugePages(const SysRoot& root, const Mounts& mounts, int node);

}  // namespace mangrove::kernel
