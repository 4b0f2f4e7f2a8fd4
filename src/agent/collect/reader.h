#pragma once
// Reads hot kernel files: keeps them open while the budget of descriptors lasts, reads the rest
// by opening and closing, counts system calls, and never fails because something vanished.
//
//   Reader reader(root, {.descriptors = 20000});
//   HotFile stat("sys/fs/cgroup/cpu.stat");
//   if (auto text = reader.read(stat)) parse(*text);       // nullopt: no such file (any more)
//
// One owner, no locks. The text lives until the next read.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/sys_root.h"

namespace mangrove::agent {

struct ReaderOptions {
  size_t descriptors = 20000;  // at most so many are kept open
  size_t bufferBytes = 16 * 1024;
};

struct ReaderStats {
  uint64_t syscalls = 0;
  uint64_t reads = 0;
  uint64_t failures = 0;  // read errors other than "gone"
  uint64_t tooLarge = 0;
};

// One file that is read again and again.
class HotFile {
 public:
  HotFile() = default;
  explicit HotFile(std::string path) : path_(std::move(path)) {}
  HotFile(HotFile&& other) noexcept;
  HotFile& operator=(HotFile&& other) noexcept;
  ~HotFile() { close(); }
  const std::string& path() const { return path_; }
  bool isOpen() const { return file_.has_value(); }
  void close();

 private:
  friend class Reader;
  std::string path_;
  std::optional<kernel::File> file_;
  size_t* open_ = nullptr;  // the reader's count; it outlives the files
};

class Reader {
 public:
  Reader(const kernel::SysRoot& root, ReaderOptions options);

  // nullopt when the file is absent, gone or unreadable; stats tell them apart.
  std::optional<std::string_view> read(HotFile& file);
  // The same for a file that is read too rarely to be kept.
  std::optional<std::string_view> readOnce(std::string_view path);

  const ReaderStats& stats() const { return stats_; }
  size_t openFiles() const { return *open_; }
  const kernel::SysRoot& root() const { return root_; }

 private:
  std::optional<std::string_view> readOpen(HotFile& file);
  bool keep(HotFile& file);
  // A larger buffer after kTooLarge; false at the limit.
  bool grow();
  std::optional<std::string_view> failed(const Error& error);

  const kernel::SysRoot& root_;
  ReaderOptions options_;
  std::vector<char> buffer_;
  ReaderStats stats_;
  std::unique_ptr<size_t> open_ = std::make_unique<size_t>(0);
};

// Raises this process's limit of descriptors to what the system allows, and says how many may be
// kept open: the wish, less what connections and the like need.
size_t raiseDescriptorLimit(size_t wished);

}  // namespace mangrove::agent
