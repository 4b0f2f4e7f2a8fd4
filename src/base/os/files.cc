#include "base/os/files.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fd.h"

namespace mangrove {
namespace {

std::string folderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

size_t sizeHint(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && info.st_size > 0 ? static_cast<size_t>(info.st_size) : 0;
}

Result<> writeAll(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failErrno(errno, "write " + path);
    content.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Result<> syncFolder(const std::string& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return failErrno(errno, "sync folder " + folder);
  return {};
}

// Content on disk under the temporary name, ready to be renamed.
Result<> fill(int fd, const std::string& path, std::string_view content,
              const WriteOptions& options) {
  if (Result<> written = writeAll(fd, content, path); !written) return written;
  if (::fchmod(fd, options.mode) != 0) return failErrno(errno, "chmod " + path);
  if (options.sync && ::fsync(fd) != 0) return failErrno(errno, "sync " + path);
  return {};
}

}  // namespace

Result<std::string> readFile(const std::string& path, size_t limit) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return failErrno(errno, "open " + path);
  constexpr size_t kStep = 64 * 1024;
  // Files of procfs say that they are empty, and some give all they have to the first read only.
  const size_t hint = sizeHint(fd.get());
  std::string out(std::min(hint > 0 ? hint : kStep, limit) + 1, '\0');
  for (size_t used = 0;;) {
    const ssize_t got = ::read(fd.get(), out.data() + used, out.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failErrno(errno, "read " + path);
    used += static_cast<size_t>(got);
    if (used > limit) return fail(Code::kTooLarge, "{} is larger than {} bytes", path, limit);
    if (got == 0) {
      out.resize(used);
      return out;
    }
    if (used == out.size()) out.resize(out.size() + kStep);
  }
}

Result<> writeFileAtomically(const std::string& path, std::string_view content,
                             WriteOptions options) {
  std::string temporary = path + ".tmp-XXXXXX";
  UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) return failErrno(errno, "create a file beside " + path);
  Result<> done = fill(fd.get(), temporary, content, options);
  fd.reset();
  if (done && ::rename(temporary.c_str(), path.c_str()) != 0)
    done = failErrno(errno, "rename to " + path);
  if (!done) {
    ::unlink(temporary.c_str());
    return done;
  }
  return options.sync ? syncFolder(folderOf(path)) : done;
}

}  // namespace mangrove
