#pragma once
// What those who cannot wait for the tick do to a group that is no value to keep: stop it, let it
// go on, take page cache from it. By the executor's list of who may (value.h); whoever does it
// reports it to the audit log.
//
//   ReflexActs acts(root, trees, owner::kGiveBack);
//   acts.freeze(cgroup, true);                   // the cgroup2 freezer, also beside v1
//   acts.reclaim(cgroup, Bytes{64 << 20});       // v2
//
// Any thread.

#include <string>
#include <string_view>

#include "base/number/units.h"
#include "base/result.h"
#include "kernel/hierarchies.h"
#include "kernel/sys_root.h"

namespace mangrove::agent {

class ReflexActs {
 public:
  ReflexActs(const kernel::SysRoot& root, const kernel::Hierarchies& trees, std::string_view owner)
      : root_(root), trees_(trees), owner_(owner) {}

  // kDenied for an owner that may not.
  Result<> freeze(std::string_view cgroup, bool frozen) const;
  Result<> reclaim(std::string_view cgroup, Bytes bytes) const;
  // v1, where nothing else takes page cache: the limit is lowered to `most` and put back at once.
  // The kernel agrees to a lower limit only when the cgroup fits into it; killed meanwhile, we leave
  // the old one.
  Result<> squeeze(std::string_view cgroup, Bytes most) const;

 private:
  Result<> may(std::string_view resource) const;
  std::string path(std::string_view resource, std::string_view cgroup) const;

  const kernel::SysRoot& root_;
  const kernel::Hierarchies& trees_;
  std::string_view owner_;
};

}  // namespace mangrove::agent
