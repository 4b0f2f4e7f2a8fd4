#pragma once
// Mounts the file system by which a processor's cache is divided, where nobody did.
//
//   Result<bool> made = mountResctrl(root, "sys/fs/resctrl");     // false: it was mounted
//
// Any thread.

#include <string_view>

#include "base/result.h"
#include "kernel/sys_root.h"

namespace mangrove::kernel {

// Only onto the folder that sysfs has for it: a tree of files stays one.
Result<bool> mountResctrl(const SysRoot& root, std::string_view path);

}  // namespace mangrove::kernel
