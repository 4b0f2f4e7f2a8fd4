#pragma once
// A cgroup: an open directory and its inode, never just a path. Control files are named by
// constants; no other code spells their names.
//
//   Result<CgroupDir> pod = CgroupDir::open(root, "sys/fs/cgroup/kubepods.slice/pod1");
//   char buffer[4096];
//   auto n = pod->read(control::kMemoryMax, buffer);      // nullopt: this kernel has no such file
//   Result<File> stat = pod->keep(control::kCpuStat, Access::kRead);
//
// Move-only; const access from any thread.

#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "kernel/sys_root.h"

namespace mangrove::kernel {

struct ControlFile {
  std::string_view name;
  bool operator==(const ControlFile&) const = default;
};

namespace control {
inline constexpr ControlFile kCpuStat{"cpu.stat"};
inline constexpr ControlFile kCpuMax{"cpu.max"};
inline constexpr ControlFile kMemoryMax{"memory.max"};
inline constexpr ControlFile kProcs{"cgroup.procs"};
}  // namespace control

class CgroupDir {
 public:
  static Result<CgroupDir> open(const SysRoot& root, std::string_view path) {
    auto dir = root.dir(path);
    if (!dir) return dir.error().in("cgroup {}", path);
    return CgroupDir(*std::move(dir));
  }

  // nullopt: this kernel has no such file. kGone: the cgroup was removed.
  Result<std::optional<size_t>> read(ControlFile file, std::span<char> buffer) const {
    return dir_.read(file.name, buffer);
  }
  Result<> write(ControlFile file, std::string_view text) const {
    return dir_.write(file.name, text);
  }
  // An open file for what is read every tick.
  Result<File> keep(ControlFile file, Access access) const { return dir_.open(file.name, access); }
  Result<CgroupDir> child(std::string_view name) const {
    auto dir = dir_.dir(name);
    if (!dir) return dir.error().in("cgroup {}", name);
    return CgroupDir(*std::move(dir));
  }
  Result<std::vector<Entry>> list() const { return dir_.list(); }

  const Identity& identity() const { return dir_.identity(); }
  bool stillThere() const { return dir_.stillThere(); }
  const std::string& path() const { return dir_.path(); }

 private:
  explicit CgroupDir(Dir dir) : dir_(std::move(dir)) {}
  Dir dir_;
};

}  // namespace mangrove::kernel
