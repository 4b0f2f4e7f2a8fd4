#pragma once
// How resctrl is mounted, so that trees of files can be tested with a stand-in: nothing can be mounted
// on them.
//
//   setMountResctrl([](const std::string& target) { return true; });
//
// Set it before the first mount, from the thread that mounts.

#include <string>

namespace mangrove::kernel {

using MountResctrl = bool (*)(const std::string& target);  // false: it was mounted
void setMountResctrl(MountResctrl mount);                  // nullptr: the kernel's own

}  // namespace mangrove::kernel
