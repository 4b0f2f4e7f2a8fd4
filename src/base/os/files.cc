#include "base/os/files.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fd.h"
#include "base/os/file_in_pieces.h"

namespace mangrove {
namespace {

size_t sizeHint(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && info.st_size > 0 ? static_cast<size_t>(info.st_size) : 0;
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
  auto file = FileInPieces::make(path, options);
  if (!file) return pass(file.error());
  if (Result<> written = file->add(content); !written) return written;
  return file->keep();
}

}  // namespace mangrove
