#include "runtime/node/pods/own_files.h"

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fd.h"
#include "base/text/strings.h"

namespace mangrove::runtime {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMaxEnvironment = 4 * 1024 * 1024;  // the kernel takes no more of all words

bool isSecret(const fs::perms mode, bool directory) {
  const auto needed =
      directory ? fs::perms::others_read | fs::perms::others_exec : fs::perms::others_read;
  return (mode & needed) != needed;
}

}  // namespace

std::vector<std::string> unreadableBelow(const std::string& directory) {
  std::vector<std::string> out;
  std::error_code error;
  fs::recursive_directory_iterator it(directory, fs::directory_options::skip_permission_denied,
                                      error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    const auto status = it->symlink_status(error);
    if (error || fs::is_symlink(status)) continue;
    const bool isDirectory = fs::is_directory(status);
    if (!isSecret(status.permissions(), isDirectory)) continue;
    out.push_back(it->path());
    if (isDirectory) it.disable_recursion_pending();
  }
  return out;
}

Result<std::vector<std::string>> callerVariables(const std::string& path, int64_t user) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat about {};
  if (!fd || ::fstat(fd.get(), &about) != 0)
    return failErrno(errno, "environment of the caller, " + path);
  const bool his = S_ISREG(about.st_mode) && about.st_uid == static_cast<uid_t>(user) &&
                   (about.st_mode & 077) == 0 &&
                   static_cast<size_t>(about.st_size) <= kMaxEnvironment;
  if (!his)
    return invalid(
        "environment of the caller: {} must be a file of user {} with mode 0600, and no larger "
        "than {} bytes",
        path, user, kMaxEnvironment);
  std::string text(static_cast<size_t>(about.st_size), '\0');
  const ssize_t n = ::read(fd.get(), text.data(), text.size());
  if (n < 0) return failErrno(errno, path);
  text.resize(static_cast<size_t>(n));
  std::vector<std::string> out;
  for (auto word : split(text, '\0'))
    if (word.find('=') != std::string_view::npos) out.emplace_back(word);
  return out;
}

}  // namespace mangrove::runtime
