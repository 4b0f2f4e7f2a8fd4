#include "base/os/file_in_pieces.h"

#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mangrove {
namespace {

std::string folderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<> syncFolder(const std::string& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return failErrno(errno, "sync folder " + folder);
  return {};
}

}  // namespace

Result<FileInPieces> FileInPieces::make(const std::string& path, WriteOptions options) {
  std::string temporary = path + ".tmp-XXXXXX";
  UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) return failErrno(errno, "create a file beside " + path);
  return FileInPieces(path, std::move(temporary), std::move(fd), options);
}

FileInPieces::~FileInPieces() {
  if (fd_) ::unlink(temporary_.c_str());
}

Result<> FileInPieces::add(std::string_view piece) {
  while (!piece.empty()) {
    const ssize_t written = ::write(fd_.get(), piece.data(), piece.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failErrno(errno, "write " + temporary_);
    piece.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Result<> FileInPieces::keep() {
  if (::fchmod(fd_.get(), options_.mode) != 0) return failErrno(errno, "chmod " + temporary_);
  if (options_.sync && ::fsync(fd_.get()) != 0) return failErrno(errno, "sync " + temporary_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0)
    return failErrno(errno, "rename to " + path_);
  fd_.reset();
  return options_.sync ? syncFolder(folderOf(path_)) : Result<>();
}

}  // namespace mangrove
