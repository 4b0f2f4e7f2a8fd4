#include "kernel/file.h"

#include <cerrno>

#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

namespace mangrove::kernel {
namespace {

bool isPlain(int fd) {
  struct statfs info {};
  if (::fstatfs(fd, &info) != 0) return false;
  switch (static_cast<unsigned long>(info.f_type)) {
    case CGROUP_SUPER_MAGIC:
    case CGROUP2_SUPER_MAGIC:
    case PROC_SUPER_MAGIC:
    case SYSFS_MAGIC:
    case RDTGROUP_SUPER_MAGIC:
    case DEBUGFS_MAGIC:
      return false;
    default:
      return true;
  }
}

ssize_t preadAgain(int fd, char* to, size_t size, size_t offset) {
  ssize_t n = 0;
  do {
    n = ::pread(fd, to, size, static_cast<off_t>(offset));
  } while (n < 0 && errno == EINTR);
  return n;
}

}  // namespace

File::File(UniqueFd fd, std::string path)
    : fd_(std::move(fd)), path_(std::move(path)), plain_(isPlain(fd_.get())) {}

ssize_t readWhole(int fd, std::span<char> buffer) {
  size_t filled = 0;
  // Files made line by line come in pieces of a page: only a read of nothing is the end.
  while (filled < buffer.size()) {
    const ssize_t n = preadAgain(fd, buffer.data() + filled, buffer.size() - filled, filled);
    if (n < 0) return -errno;
    if (n == 0) return static_cast<ssize_t>(filled);
    filled += static_cast<size_t>(n);
  }
  char more = 0;
  const ssize_t n = preadAgain(fd, &more, 1, filled);
  if (n != 0) return n < 0 ? -errno : -EFBIG;
  return static_cast<ssize_t>(filled);
}

Failure readFailure(ssize_t negative, const std::string& path, size_t room) {
  if (negative == -EFBIG)
    return fail(Code::kTooLarge, "read {}: more than the {} bytes there is room for", path, room);
  return failErrno(static_cast<int>(-negative), "read " + path);
}

Result<size_t> File::read(std::span<char> buffer) const {
  const ssize_t n = readWhole(fd_.get(), buffer);
  if (n < 0) return readFailure(n, path_, buffer.size());
  return static_cast<size_t>(n);
}

Result<> File::write(std::string_view text) const {
  const ssize_t n = ::pwrite(fd_.get(), text.data(), text.size(), 0);
  if (n < 0) return failErrno(errno, fmt::format("write '{}' to {}", text, path_));
  if (static_cast<size_t>(n) != text.size())
    return fail(Code::kIo, "write '{}' to {}: only {} of {} bytes were taken", text, path_, n,
                text.size());
  if (plain_ && ::ftruncate(fd_.get(), n) != 0) return failErrno(errno, "truncate " + path_);
  return {};
}

}  // namespace mangrove::kernel
