#include "kernel/resolve.h"

#include <cerrno>
#include <climits>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os/fd.h"

namespace mangrove::kernel {
namespace {

constexpr int kMaxSymlinks = 40;  // the kernel's own limit

int openat2(int dir, const char* path, int flags, uint64_t resolve) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags);
  how.resolve = resolve;
  return static_cast<int>(::syscall(SYS_openat2, dir, path, &how, sizeof how));
}

// Old kernels do not know the call; sandboxes that do not know it either forbid it.
bool lacksOpenat2(int errnum) {
  return errnum == ENOSYS || errnum == EPERM;
}

int failWith(int errnum) {
  errno = errnum;
  return -1;
}

void prepend(std::deque<std::string>& parts, std::string_view path) {
  std::vector<std::string> found;
  for (size_t at = 0; at < path.size();) {
    const size_t slash = std::min(path.find('/', at), path.size());
    if (slash > at) found.emplace_back(path.substr(at, slash - at));
    at = slash + 1;
  }
  parts.insert(parts.begin(), found.begin(), found.end());
}

// The directories walked through so far; ".." goes back along them, never above the root.
class Walk {
 public:
  Walk(int root, const char* path) : root_(root) { prepend(parts_, path); }

  int open(int flags) {
    while (!parts_.empty()) {
      const std::string part = std::move(parts_.front());
      parts_.pop_front();
      if (part == ".") continue;
      if (part == "..") {
        if (!dirs_.empty()) dirs_.pop_back();
      } else if (int fd = step(part, flags); fd != kGoOn) {
        return fd;
      }
    }
    return ::openat(here(), ".", flags);
  }

 private:
  static constexpr int kGoOn = -2;

  int here() const { return dirs_.empty() ? root_ : dirs_.back().get(); }

  int step(const std::string& part, int flags) {
    char target[PATH_MAX];
    const ssize_t length = ::readlinkat(here(), part.c_str(), target, sizeof target);
    if (length >= 0) return follow({target, static_cast<size_t>(length)});
    if (errno != EINVAL) return -1;  // EINVAL: there, and no symlink
    if (parts_.empty()) return ::openat(here(), part.c_str(), flags | O_NOFOLLOW);
    UniqueFd next(::openat(here(), part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return -1;
    dirs_.push_back(std::move(next));
    return kGoOn;
  }

  int follow(std::string_view target) {
    if (++followed_ > kMaxSymlinks) return failWith(ELOOP);
    if (target.starts_with('/')) dirs_.clear();
    prepend(parts_, target);
    return kGoOn;
  }

  int root_;
  std::deque<std::string> parts_;
  std::vector<UniqueFd> dirs_;
  int followed_ = 0;
};

}  // namespace

int openInRoot(int root, const char* path, int flags) {
  const int fd = openat2(root, path, flags, RESOLVE_IN_ROOT);
  return fd < 0 && lacksOpenat2(errno) ? openByHand(root, path, flags) : fd;
}

int openByHand(int root, const char* path, int flags) {
  return Walk(root, path).open(flags);
}

int openBeneath(int dir, const char* path, int flags) {
  const int fd = openat2(dir, path, flags, RESOLVE_BENEATH);
  if (fd >= 0 || !lacksOpenat2(errno)) return fd;
  if (std::string_view(path).find('/') != std::string_view::npos) return failWith(EXDEV);
  const int plain = ::openat(dir, path, flags | O_NOFOLLOW);
  return plain < 0 && errno == ELOOP ? failWith(EXDEV) : plain;
}

}  // namespace mangrove::kernel
