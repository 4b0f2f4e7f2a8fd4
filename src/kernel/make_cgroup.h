#pragma once
// Makes cgroups that processes can enter: a cpuset of version 1 is born empty and takes over what
// its parent has, a directory of version 2 has the controllers its parent hands down.
//
//   makeCgroup(root, "sys/fs/cgroup/cpuset/kubepods", CgroupTreeKind::kCpuset);
//
// Any thread; two must not make the same directory.

#include <string>

#include "base/result.h"
#include "kernel/sys_root.h"

namespace mangrove::kernel {

enum class CgroupTreeKind : uint8_t { kUnified, kCpuset, kOther };  // the last two of version 1

// The parent is there already; the directory itself may be.
Result<> makeCgroup(const SysRoot& root, const std::string& dir, CgroupTreeKind kind);

}  // namespace mangrove::kernel
