#pragma once
// A kernel file kept open. Re-reading with pread costs a sixth of open/read/close, so hot files
// (cpu.stat, memory.current, pressure) are opened once per cgroup and read every tick.
//
//   char buffer[4096];
//   Result<size_t> n = stat.read(buffer);
//   parse(std::string_view(buffer, *n));
//
// Owner: one. A const File may be read by several threads at once (pread keeps no position).

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/os/fd.h"
#include "base/result.h"

namespace mangrove::kernel {

enum class Access { kRead, kWrite, kReadWrite };

class File {
 public:
  File(UniqueFd fd, std::string path);

  // The whole content from the start, without allocating. kTooLarge when it does not fit; a file
  // whose cgroup was removed is kNotFound.
  Result<size_t> read(std::span<char> buffer) const;
  // Replaces the content with one write, as control files want it; a short write is an error.
  Result<> write(std::string_view text) const;

  // Below the root, without a leading slash: "sys/fs/cgroup/cpu.stat".
  const std::string& path() const { return path_; }
  // For poll(2) on pressure triggers and the like; stays ours.
  int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
  std::string path_;
  // On an ordinary file system (fake trees) a shorter text must cut the rest of the old one;
  // control files have no rest, and on them it would cost a call.
  bool plain_;
};

// The parts of File::read, for readers that have a descriptor but no path yet: bytes read or
// -errno, -EFBIG when the content does not fit; and the error for a negative answer.
ssize_t readWhole(int fd, std::span<char> buffer);
Failure readFailure(ssize_t negative, const std::string& path, size_t room);

}  // namespace mangrove::kernel
