#include "kernel/dir.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/resolve.h"

namespace mangrove::kernel {
namespace {

int flagsOf(Access access) {
  switch (access) {
    case Access::kRead:
      return O_RDONLY;
    case Access::kWrite:
      return O_WRONLY;
    case Access::kReadWrite:
      return O_RDWR;
  }
  return O_RDONLY;
}

Identity identityOf(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return {};
  return {info.st_dev, info.st_ino};
}

bool isDirectory(int dir, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat info {};
  return ::fstatat(dir, entry.d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode);
}

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

}  // namespace

struct Dir::Top {
  UniqueFd fd;
  bool whole;  // the machine's own root: nothing to be kept inside of
};

Result<Dir> Dir::openTop(const std::string& root) {
  UniqueFd fd(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return failErrno(errno, "open the root " + root);
  const Identity identity = identityOf(fd.get());
  const bool whole = root == "/";
  UniqueFd again(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!again) return failErrno(errno, "open the root " + root);
  auto top = std::make_shared<const Top>(Top{std::move(fd), whole});
  return Dir(std::move(top), std::move(again), "", identity);
}

std::string Dir::below(std::string_view name) const {
  while (name.starts_with('/')) name.remove_prefix(1);
  if (path_.empty()) return std::string(name);
  return name.empty() ? path_ : fmt::format("{}/{}", path_, name);
}

// First from this directory, so that a replaced one cannot answer; only a name that leads out of it
// (a symlink into another part of sysfs) is looked up from the root.
int Dir::tryOpen(const char* name, int flags) const {
  if (top_->whole) return ::openat(fd_.get(), name, flags);
  if (path_.empty()) return openInRoot(top_->fd.get(), name, flags);
  const int fd = openBeneath(fd_.get(), name, flags);
  if (fd >= 0 || errno != EXDEV) return fd;
  return openInRoot(top_->fd.get(), below(name).c_str(), flags);
}

Result<UniqueFd> Dir::openFd(std::string_view name, int flags) const {
  while (name.starts_with('/')) name.remove_prefix(1);
  char text[PATH_MAX];
  if (name.size() >= sizeof text) return failErrno(ENAMETOOLONG, "open " + below(name));
  std::memcpy(text, name.data(), name.size());
  text[name.size()] = '\0';
  const char* relative = name.empty() ? "." : text;
  UniqueFd fd(tryOpen(relative, flags | O_CLOEXEC));
  if (!fd) return failErrno(errno, "open " + below(name));
  return fd;
}

Result<File> Dir::open(std::string_view name, Access access) const {
  auto fd = openFd(name, flagsOf(access));
  if (!fd) return pass(fd.error());
  return File(*std::move(fd), below(name));
}

Result<Dir> Dir::dir(std::string_view name) const {
  auto fd = openFd(name, O_PATH | O_DIRECTORY);
  if (!fd) return pass(fd.error());
  const Identity identity = identityOf(fd->get());
  return Dir(top_, *std::move(fd), below(name), identity);
}

Result<std::optional<size_t>> Dir::read(std::string_view name, std::span<char> buffer) const {
  auto fd = openFd(name, O_RDONLY);
  if (!fd) {
    if (fd.error().detail() != ENOENT) return pass(fd.error());
    if (!stillThere()) return fail(Code::kGone, "read {}: {} was removed", below(name), path_);
    return std::nullopt;
  }
  const ssize_t n = readWhole(fd->get(), buffer);
  if (n < 0) return readFailure(n, below(name), buffer.size());
  return static_cast<size_t>(n);
}

Result<> Dir::write(std::string_view name, std::string_view text) const {
  auto file = open(name, Access::kWrite);
  if (!file) return file.error().in("write '{}'", text);
  return file->write(text);
}

Result<bool> Dir::exists(std::string_view name) const {
  auto fd = openFd(name, O_PATH);
  if (fd) return true;
  if (fd.error().detail() == ENOENT || fd.error().detail() == ENOTDIR) return false;
  return pass(fd.error());
}

Result<std::string> Dir::readLink(std::string_view name) const {
  auto fd = openFd(name, O_PATH | O_NOFOLLOW);
  if (!fd) return pass(fd.error());
  char target[PATH_MAX];
  const ssize_t size = ::readlinkat(fd->get(), "", target, sizeof target);
  if (size < 0) return failErrno(errno, "read the symlink " + below(name));
  return std::string(target, static_cast<size_t>(size));
}

Result<std::vector<Entry>> Dir::list() const {
  // An O_PATH descriptor cannot be read: open the same directory once more, through itself.
  const int fd = ::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return failErrno(errno, "list " + path_);
  const std::unique_ptr<DIR, CloseDir> stream(::fdopendir(fd));
  if (!stream) return failErrno(errno, "list " + path_);
  std::vector<Entry> entries;
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..")
      entries.push_back({std::string(name), isDirectory(fd, *entry)});
    errno = 0;
  }
  if (errno != 0) return failErrno(errno, "list " + path_);
  std::sort(entries.begin(), entries.end(), [](auto& a, auto& b) { return a.name < b.name; });
  return entries;
}

bool Dir::stillThere() const {
  const char* name = path_.empty() ? "." : path_.c_str();
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  UniqueFd fd(top_->whole ? ::openat(top_->fd.get(), name, kFlags)
                          : openInRoot(top_->fd.get(), name, kFlags));
  return fd && identityOf(fd.get()) == identity_;
}

}  // namespace mangrove::kernel
