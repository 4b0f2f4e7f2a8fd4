#pragma once
// Whole small kernel files that are read rarely, as strings. Hot files use File and a buffer.
//
//   Result<std::optional<std::string>> vendor = readText(root, "proc/cpuinfo");   // nullopt: none
//
// Any thread.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kernel/sys_root.h"

namespace mangrove::kernel {

inline constexpr size_t kReadTextLimit = 4 * 1024 * 1024;  // cpuinfo of 2000 CPUs

// kTooLarge beyond the limit.
Result<std::optional<std::string>> readText(const SysRoot& root, std::string_view path,
                                            size_t limit = kReadTextLimit);
// Trimmed; nullopt when the file is absent or cannot be read: for facts that only decorate.
std::optional<std::string> readWord(const SysRoot& root, std::string_view path);
std::optional<int64_t> readNumber(const SysRoot& root, std::string_view path);

}  // namespace mangrove::kernel
