#pragma once
// The filter of system calls that containers get unless they ask for none: every call that is known
// is allowed, except those that reach the kernel itself or beyond the container and those that no
// capability of the container could use. A refused call answers EPERM; one that is newer than the
// filter answers ENOSYS, so that programs take the older way.

#include <cstdint>
#include <string>

#include "base/result.h"

namespace mangrove::runtime {

// The kernel's program of the filter, as bytes; takes milliseconds to make. `capabilities`: some
// give calls back (SYS_ADMIN gives mount).
Result<std::string> filterProgram(uint64_t capabilities);
// From here on, for this process and its children, for ever. Needs no_new_privs or SYS_ADMIN in
// the present user namespace.
Result<> filterCalls(const std::string& program);

}  // namespace mangrove::runtime
