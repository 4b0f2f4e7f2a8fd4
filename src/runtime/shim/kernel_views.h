#pragma once
// What a contained process sees of the kernel's own file systems: /proc without what tells of or
// reaches the machine, /sys read-only, its own cgroups read-only. For a root under construction.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mangrove::runtime {

// /proc is mounted in `root` already.
Result<> maskProc(int root);
// A /sys for `root`; `cgroups` are the container's own, as "sys/fs/cgroup/cpu/kubepods/…".
Result<> showSys(int root, const std::vector<std::string>& cgroups);
// An empty, read-only directory, or an empty file, over what is there.
Result<> coverWithNothing(int root, std::string_view path);

}  // namespace mangrove::runtime
