#pragma once
// /proc/meminfo and the same of one NUMA node (whose lines begin "Node 0 "). Amounts are bytes; a
// key the kernel does not have stays unset.
//
//   Result<MemInfo> info = parseMemInfo(text);
//   info->total, usedWithoutCache(*info)
//
// Pure functions, no allocation unless they fail.

#include <optional>
#include <string_view>

#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::kernel {

struct MemInfo {
  Bytes total;
  Bytes free;
  std::optional<Bytes> available;  // not in the files of NUMA nodes
  Bytes activeFile, inactiveFile;
  Bytes slabReclaimable;
  Bytes swapTotal, swapFree;
  Bytes hugePageSize;
  bool operator==(const MemInfo&) const = default;
};

// MemTotal and MemFree must be there and sane (free not above total).
Result<MemInfo> parseMemInfo(std::string_view text);

// MemTotal - MemAvailable; an error when the file says more is available than there is, or nothing.
Result<Bytes> usedWithoutCache(const MemInfo& info);
// MemTotal - MemFree.
Bytes usedWithCache(const MemInfo& info);
// Of a NUMA node, where the kernel does not say what is available: total less free, file pages and
// reclaimable slab; never below 0. E.g. 1 GiB - (256 + 128 + 128 + 64) MiB = 448 MiB.
Bytes numaUsed(const MemInfo& info);
// With-cache usage less what nobody touched for long; 0 when the cold part is larger.
Bytes usedWithHotCache(const MemInfo& info, Bytes cold);

}  // namespace mangrove::kernel
