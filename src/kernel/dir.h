#pragma once
// An open directory and its identity. A cgroup can be removed and made again under the same name
// between two reads; a Dir goes on meaning the one it was opened for, and can tell.
//
//   Result<Dir> pod = root.dir("sys/fs/cgroup/kubepods.slice/pod1");
//   char buffer[4096];
//   Result<std::optional<size_t>> n = pod->read("memory.high", buffer);   // nullopt: no such file
//   if (!pod->stillThere()) …                                             // removed or replaced
//
// Names are relative to the directory. Nothing can lead out of the root it came from: absolute
// symlinks start again at that root and ".." stops there. Move-only; const access from any thread.
// The SysRoot it came from may go away first.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/os/fd.h"
#include "base/result.h"
#include "kernel/file.h"

namespace mangrove::kernel {

// Which directory (or file) a path means at a moment.
struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const Identity&) const = default;
};

struct Entry {
  std::string name;
  bool isDir = false;  // a symlink is no directory
  bool operator==(const Entry&) const = default;
};

class Dir {
 public:
  // Reads a file once into the caller's buffer, without allocating; nullopt when there is none. A
  // removed directory is an error (kGone), not an absent file.
  Result<std::optional<size_t>> read(std::string_view name, std::span<char> buffer) const;
  // Opens, writes once, closes. The file must exist.
  Result<> write(std::string_view name, std::string_view text) const;
  // To keep open. kNotFound when there is no such file.
  Result<File> open(std::string_view name, Access access) const;
  Result<Dir> dir(std::string_view name) const;

  Result<bool> exists(std::string_view name) const;
  // Where a symlink points, unresolved.
  Result<std::string> readLink(std::string_view name) const;
  // Sorted by name, without "." and "..".
  Result<std::vector<Entry>> list() const;

  const Identity& identity() const { return identity_; }
  // True while the path still leads to this very directory.
  bool stillThere() const;
  // Below the root, without a leading slash; "" for the root itself.
  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }

 private:
  friend class SysRoot;
  struct Top;  // the root's descriptor, shared by all that was opened below it
  static Result<Dir> openTop(const std::string& root);

  Dir(std::shared_ptr<const Top> top, UniqueFd fd, std::string path, Identity identity)
      : top_(std::move(top)), fd_(std::move(fd)), path_(std::move(path)), identity_(identity) {}
  Result<UniqueFd> openFd(std::string_view name, int flags) const;
  int tryOpen(const char* name, int flags) const;
  std::string below(std::string_view name) const;

  std::shared_ptr<const Top> top_;
  UniqueFd fd_;
  std::string path_;
  Identity identity_;
};

}  // namespace mangrove::kernel
