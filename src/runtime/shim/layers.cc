#include "runtime/shim/layers.h"

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "runtime/shim/mounts.h"

namespace mangrove::runtime {

namespace fs = std::filesystem;

namespace {

// An upper directory that merges with one below looks as the upper one does.
void copyTraits(const std::string& from, const std::string& to, int64_t shift) {
  struct stat about {};
  if (::stat(from.c_str(), &about) != 0) return;
  (void)!::chown(to.c_str(), static_cast<uid_t>(about.st_uid + shift),
                 static_cast<gid_t>(about.st_gid + shift));
  ::chmod(to.c_str(), about.st_mode & 07777);
}

// The mark by which an upper layer says: there is nothing of that name below.
Result<> hide(const std::string& source, const std::string& upper, const std::string& path,
              int64_t shift) {
  if (!path.starts_with(source + "/")) return {};
  std::string made = upper, real = source;
  const fs::path relative = path.substr(source.size() + 1);
  for (const auto& part : relative.parent_path()) {
    made += "/" + part.string();
    real += "/" + part.string();
    if (::mkdir(made.c_str(), 0755) == 0) copyTraits(real, made, shift);
  }
  if (::mknod((upper + "/" + relative.string()).c_str(), S_IFCHR, makedev(0, 0)) == 0 ||
      errno == EEXIST)
    return {};
  return failErrno(errno, "hiding " + path);
}

Result<> attachAt(Result<UniqueFd> mount, const std::string& path) {
  if (!mount) return pass(mount.error());
  auto at = openPath(path);
  if (!at) return pass(at.error());
  return attach(mount->get(), at->get());
}

Result<UniqueFd> mapped(const std::string& path, int users) {
  auto fd = openPath(path);
  if (!fd) return fd;
  auto tree = cloneTree(fd->get(), false);
  if (!tree) return tree;
  if (auto ok = setTraits(tree->get(), {.users = users}, false); !ok)
    return ok.error().in("users of {}", path);
  return tree;
}

}  // namespace

Result<> Layers::prepare(const std::string& source, const std::string& dir,
                         const std::vector<std::string>& hidden, bool onMemory) {
  std::error_code error;
  for (const char* part : {"/lower", "/rw"}) fs::create_directories(dir + part, error);
  if (auto ok = attachAt(mapped(source, users_), dir + "/lower"); !ok) return ok;
  // What lies below is seen through the map; what is written belongs to the pod's users as it is.
  if (onMemory)
    if (auto ok = attachAt(newFileSystem("tmpfs", "mode=755,size=64m", {.noDevices = noDevices_}),
                           dir + "/rw");
        !ok)
      return ok;
  for (const char* part : {"/rw/upper", "/rw/work"}) fs::create_directories(dir + part, error);
  copyTraits(source, dir + "/rw/upper", owner_);
  for (const auto& path : hidden)
    if (auto ok = hide(source, dir + "/rw/upper", path, owner_); !ok) return ok;
  return {};
}

// Paths relative to the working directory: options of a mount are short.
Result<> Layers::mountOver(const std::string& dir, const std::string& target) {
  if (::chdir(dir.c_str()) != 0) return failErrno(errno, dir);
  const unsigned long flags = noDevices_ ? static_cast<unsigned long>(MS_NODEV) : 0UL;
  const int failed = ::mount("overlay", target.c_str(), "overlay", flags,
                             "lowerdir=lower,upperdir=rw/upper,workdir=rw/work");
  const int error = errno;
  (void)!::chdir("/");
  return failed == 0 ? Result<>() : failErrno(error, "a private layer over " + target);
}

Result<> Layers::cover(const std::string& source, const std::string& target,
                       const std::vector<std::string>& hidden) {
  Result<> last;
  // Some file systems can hold no upper layer (an overlay itself, a network's); memory always can.
  for (bool onMemory : {false, true}) {
    const std::string dir = fmt::format("{}/layers/{}", scratch_, count_++);
    last = prepare(source, dir, hidden, onMemory);
    if (last) last = mountOver(dir, target);
    if (last) return last;
  }
  return last;
}

}  // namespace mangrove::runtime
