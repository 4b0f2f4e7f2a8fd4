#pragma once
// Whole files, for configuration, credentials and state. Kernel files go through kernel::SysRoot
// instead.
//
//   Result<std::string> text = readFile("/etc/mangrove/agent.yaml");
//   writeFileAtomically(path, bytes, {.mode = 0600});   // readers see the old or the new content
//
// Any thread; two writers of one path are safe, the later rename wins.

#include <cstddef>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/result.h"

namespace mangrove {

inline constexpr size_t kReadFileLimit = 64 * 1024 * 1024;  // larger configuration is a mistake

// Fails with kTooLarge beyond `limit`; works on pipes and files that claim size 0 as well.
Result<std::string> readFile(const std::string& path, size_t limit = kReadFileLimit);

struct WriteOptions {
  mode_t mode = 0644;
  bool sync = true;  // fsync of file and directory: the content survives a power cut
};
// Writes beside the target, flushes, renames over it, flushes the directory. The old file stays on
// any error.
Result<> writeFileAtomically(const std::string& path, std::string_view content,
                             WriteOptions options = {});

}  // namespace mangrove
