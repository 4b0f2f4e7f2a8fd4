#pragma once
// A machine for tests: a tree of kernel files written as one expression, kept in a temporary
// directory until the FakeRoot dies.
//
//   FakeRoot fs{dir("sys/fs/cgroup/kubepods.slice",
//                   file("cpu.stat", "usage_usec 1200000\n"),
//                   dir("pod-a", file("cpu.max", "max 100000\n"))),
//               link("proc/self", "1")};
//   SysRoot root = fs.root();
//   fs.write("sys/fs/cgroup/kubepods.slice/cpu.stat", "usage_usec 1300000\n");  // it counts on
//
// A test that cannot write its own fixture is broken: every failure here is a CHECK.

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/os/temp_folder.h"
#include "kernel/sys_root.h"

namespace mangrove::kernel {

struct FakeEntry {
  enum class Kind { kFile, kDir, kLink };
  Kind kind = Kind::kFile;
  std::string path;  // may have several parts; missing parents are made
  std::string text;  // content or link target
  std::vector<FakeEntry> children;
};

inline FakeEntry file(std::string path, std::string content) {
  return {FakeEntry::Kind::kFile, std::move(path), std::move(content), {}};
}
inline FakeEntry link(std::string path, std::string target) {
  return {FakeEntry::Kind::kLink, std::move(path), std::move(target), {}};
}
template <class... Children>
FakeEntry dir(std::string path, Children... children) {
  return {FakeEntry::Kind::kDir, std::move(path), "", {std::move(children)...}};
}

class FakeRoot {
 public:
  FakeRoot(std::initializer_list<FakeEntry> entries = {});
  ~FakeRoot();
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  const std::filesystem::path& path() const { return path_; }
  SysRoot root() const { return SysRoot(path_); }

  void add(const FakeEntry& entry) { make(path_, entry); }
  void write(const std::string& path, std::string_view content);  // parents are made
  std::string read(const std::string& path) const;
  void remove(const std::string& path);  // with everything below
  bool exists(const std::string& path) const;

 private:
  static void make(const std::filesystem::path& parent, const FakeEntry& entry);

  TempFolder folder_;
  std::filesystem::path path_;
};

}  // namespace mangrove::kernel
