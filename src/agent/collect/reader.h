#pragma once
// Reads hot kernel files: keeps them open while the budget of descriptors lasts, closes the coldest
// (those read most rarely) for hotter ones when it does not, reads the rest by opening and closing,
// counts system calls, and never fails because something vanished.
//
//   Reader reader(root, {.descriptors = 20000});
//   HotFile stat("sys/fs/cgroup/cpu.stat");
//   reader.begin();                                        // of each tick
//   if (auto text = reader.read(stat)) parse(*text);       // nullopt: no such file (any more)
//
// The kernel ends every text with a line end; one that does not is cut off, and comes as "" so that
// parsers refuse it. One owner, no locks. The text lives until the next read.

#include <array>
#include <cstdint>
#include <memory>
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
  uint64_t cut = 0;     // texts without their line end
  uint64_t closed = 0;  // cold files closed for hotter ones
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
  // How rarely a file is read; the last one is for files that were read once so far.
  static constexpr size_t kCoolnesses = 4;
  // The files a reader keeps open, chained by coolness; it outlives them.
  struct OpenFiles {
    size_t count = 0;
    std::array<HotFile*, kCoolnesses> coolest{};
  };
  void chain(OpenFiles* files);
  void unchain();
  void takePlaceOf(HotFile& other);

  std::string path_;
  std::optional<kernel::File> file_;
  OpenFiles* open_ = nullptr;
  HotFile* before_ = nullptr;
  HotFile* after_ = nullptr;
  uint32_t lastRound_ = 0;
  uint8_t coolness_ = kCoolnesses - 1;
};

class Reader {
 public:
  Reader(const kernel::SysRoot& root, ReaderOptions options);

  // A new tick: what "rarely" means is counted in ticks.
  void begin() { ++round_; }
  // nullopt when the file is absent, gone or unreadable; stats and vanished() tell them apart.
  std::optional<std::string_view> read(HotFile& file);
  // The same for a file that is read too rarely to be kept.
  std::optional<std::string_view> readOnce(std::string_view path);

  const ReaderStats& stats() const { return stats_; }
  // The last read found no such file, as opposed to one that cannot be read.
  bool vanished() const { return vanished_; }
  size_t openFiles() const { return open_->count; }
  const kernel::SysRoot& root() const { return root_; }

 private:
  std::optional<std::string_view> readOpen(HotFile& file);
  bool keep(HotFile& file);
  void noteUse(HotFile& file);
  bool closeColderThan(const HotFile& file);
  std::string_view whole(size_t size);
  // A larger buffer after kTooLarge; false at the limit.
  bool grow();
  std::optional<std::string_view> failed(const Error& error);

  const kernel::SysRoot& root_;
  ReaderOptions options_;
  std::vector<char> buffer_;
  ReaderStats stats_;
  uint32_t round_ = 1;
  bool vanished_ = false;
  std::unique_ptr<HotFile::OpenFiles> open_ = std::make_unique<HotFile::OpenFiles>();
};

// Raises this process's limit of descriptors to what the system allows, and says how many may be
// kept open: the wish, less what connections and the like need.
size_t raiseDescriptorLimit(size_t wished);

}  // namespace mangrove::agent
