#pragma once
// Directories that mean something to the kernel: making one in resctrl makes a group.
//
//   Result<bool> made = makeDir(root, "sys/fs/resctrl/BE");      // false: it was there
//
// Any thread.

#include <string_view>

#include "base/result.h"
#include "kernel/sys_root.h"

namespace mangrove::kernel {

Result<bool> makeDir(const SysRoot& root, std::string_view path);
// False when there was none. Files in it, as the kernel puts them there, do not matter.
Result<bool> removeDir(const SysRoot& root, std::string_view path);

}  // namespace mangrove::kernel
