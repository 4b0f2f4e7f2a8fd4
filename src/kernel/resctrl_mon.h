#pragma once
// What resctrl measured for a control group: last-level cache in use and memory bandwidth, per
// cache. Files are kept open.
//
//   auto be = ResctrlMonitor::open(root, mounts, "BE");     // nullopt: no such group or no resctrl
//   be->read([&](const CacheSample& s) { … });
//
// One owner, no locks.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/hierarchies.h"
#include "kernel/sys_root.h"

namespace mangrove::kernel {

struct CacheSample {
  int cacheId = 0;
  // nullopt: the file is missing or the kernel says "Unavailable".
  std::optional<uint64_t> llcBytes, localBytes, totalBytes;
};

class ResctrlMonitor {
 public:
  static Result<std::optional<ResctrlMonitor>> open(const SysRoot& root, const Mounts& mounts,
                                                    std::string_view group);

  template <class F>
  void read(F&& each) const {
    for (const Cache& cache : caches_) each(sample(cache));
  }
  size_t caches() const { return caches_.size(); }

 private:
  struct Cache {
    int id = 0;
    std::optional<File> llc, local, total;
  };
  static CacheSample sample(const Cache& cache);
  std::vector<Cache> caches_;
};

// "mon_L3_01" → 1; nullopt for anything else.
std::optional<int> cacheIdOf(std::string_view name);

}  // namespace mangrove::kernel
