#include "store/data_dir.h"

#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/strings.h"

namespace mangrove::store {
namespace {

// Keys and secrets lie in it: nobody else may own it or put files there.
Result<> requireOwn(const std::string& dir) {
  struct stat about {};
  if (::stat(dir.c_str(), &about) != 0) return failErrno(errno, "data directory " + dir);
  if (about.st_uid != ::geteuid())
    return fail(
        Code::kDenied,
        "data directory {} belongs to user {} and not to us, user {}: chown it, or use another",
        dir, about.st_uid, ::geteuid());
  if ((about.st_mode & 022) != 0)
    return fail(Code::kDenied,
                "data directory {} has mode {:o}, so others can write there: chmod 700 {}", dir,
                about.st_mode & 07777, dir);
  return {};
}

Result<> makeDir(const std::string& dir) {
  std::error_code error;
  if (std::filesystem::is_directory(dir, error)) return requireOwn(dir);
  const auto parent = std::filesystem::path(dir).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (::mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST)
    return failErrno(errno, "make data directory " + dir);
  return {};
}

std::string holderOf(int fd) {
  char text[32];
  const ssize_t got = ::pread(fd, text, sizeof text, 0);
  const std::string_view pid = trim(std::string_view(text, got > 0 ? static_cast<size_t>(got) : 0));
  return pid.empty() ? std::string("another process") : fmt::format("process {}", pid);
}

Result<> writePid(int fd, const std::string& file) {
  const std::string text = fmt::format("{}\n", ::getpid());
  // A full disk must not keep a store from opening: the lock holds without the number.
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, text.data(), text.size(), 0) < 0) {
    if (errno != ENOSPC) return failErrno(errno, "write " + file);
  }
  return {};
}

// The kernel lets go of a killed process's lock a moment after the process is gone: whoever starts
// the next one at once waits for that.
bool takeLock(int fd) {
  constexpr int kTries = 40;
  constexpr useconds_t kPause = 25'000;
  for (int i = 0; i < kTries; ++i) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK) return false;
    ::usleep(kPause);
  }
  errno = EWOULDBLOCK;
  return false;
}

}  // namespace

Result<DataDir> DataDir::lock(const std::string& dir) {
  if (auto made = makeDir(dir); !made) return pass(made.error());
  const std::string file = dir + "/lock";
  UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) return failErrno(errno, "open " + file);
  if (!takeLock(fd.get())) {
    if (errno != EWOULDBLOCK) return failErrno(errno, "lock " + file);
    return fail(Code::kConflict,
                "data directory {} is in use by {}: stop that one first or use another directory",
                dir, holderOf(fd.get()));
  }
  if (auto written = writePid(fd.get(), file); !written) return pass(written.error());
  return DataDir(dir, std::move(fd));
}

Result<> DataDir::sync() const {
  UniqueFd fd(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return failErrno(errno, "sync " + path_);
  return {};
}

}  // namespace mangrove::store
