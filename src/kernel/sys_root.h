#pragma once
// The one door to the machine: everything of proc, sys, cgroupfs and resctrl is reached through a
// SysRoot. Production passes "/"; tests, captured machines and the simulator pass another
// directory, out of which no symlink and no ".." can lead.
//
//   SysRoot root;                                             // or SysRoot(fake.path())
//   char buffer[8192];
//   auto n = root.read("proc/stat", buffer);                  // nullopt: this kernel has no such
//   file Result<File> load = root.open("proc/loadavg", Access::kRead); Result<Dir> cgroup =
//   root.dir("sys/fs/cgroup/kubepods.slice");
//
// Paths are written without a leading slash; errors name them that way, whatever the root is.
// Move-only; const access from any thread. Files and directories opened through it may outlive it.

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "kernel/dir.h"
#include "kernel/file.h"

namespace mangrove::kernel {

class SysRoot {
 public:
  // A root that cannot be opened makes every call below fail with that reason.
  explicit SysRoot(const std::filesystem::path& root = "/");

  Result<File> open(std::string_view path, Access access) const;
  Result<Dir> dir(std::string_view path) const;
  Result<std::optional<size_t>> read(std::string_view path, std::span<char> buffer) const;
  Result<> write(std::string_view path, std::string_view text) const;
  Result<bool> exists(std::string_view path) const;
  Result<std::string> readLink(std::string_view path) const;
  Result<std::vector<Entry>> list(std::string_view path) const;

  const std::filesystem::path& root() const { return root_; }

 private:
  std::filesystem::path root_;
  Result<Dir> top_;
};

}  // namespace mangrove::kernel
