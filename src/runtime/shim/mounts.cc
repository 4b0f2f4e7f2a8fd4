#include "runtime/shim/mounts.h"

#include <cerrno>

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/openat2.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text/strings.h"

namespace mangrove::runtime {

namespace {

Result<UniqueFd> resolve(int top, std::string_view path, uint64_t how) {
  open_how want{};
  want.flags = O_PATH | O_CLOEXEC;
  want.resolve = how | RESOLVE_NO_MAGICLINKS;
  const std::string text = path.empty() ? "." : std::string(path);
  UniqueFd fd(static_cast<int>(::syscall(SYS_openat2, top, text.c_str(), &want, sizeof want)));
  if (fd) return fd;
  if (errno == EXDEV || errno == ELOOP) return invalid("{} leads out of its directory", text);
  return failErrno(errno, text);
}

// 0 or what went wrong.
int tryEntry(int parent, const std::string& name, bool file, mode_t mode) {
  if (!file) return ::mkdirat(parent, name.c_str(), mode) == 0 ? 0 : errno;
  UniqueFd fd(
      ::openat(parent, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  return fd ? 0 : errno;
}

Result<> makeEntry(int parent, const std::string& name, bool file, const Made& made) {
  const auto mode = static_cast<mode_t>(made.mode);
  int error = tryEntry(parent, name, file, mode);
  if (error == EOVERFLOW && made.owner != 0) {  // a mapped mount takes files of mapped users only
    ::setfsgid(static_cast<gid_t>(made.owner));
    ::setfsuid(static_cast<uid_t>(made.owner));
    error = tryEntry(parent, name, file, mode);
    ::setfsuid(::geteuid());
    ::setfsgid(::getegid());
    if (error == 0) return {};
  }
  if (error == EEXIST) return {};
  if (error != 0) return failErrno(error, name);
  if (made.owner != 0)
    (void)!::fchownat(parent, name.c_str(), static_cast<uid_t>(made.owner),
                      static_cast<gid_t>(made.owner), AT_SYMLINK_NOFOLLOW);
  return {};
}

// Each prefix is resolved anew from the top, so that links on the way are followed as the container
// sees them.
Result<UniqueFd> makeUnder(int top, std::string_view path, const Made& made, uint64_t how) {
  if (auto there = resolve(top, path, how)) return there;
  std::string done;
  const auto parts = split(path, '/');
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty() || parts[i] == ".") continue;
    if (parts[i] == "..") return invalid("{} must not contain '..'", path);
    const std::string next =
        done.empty() ? std::string(parts[i]) : done + "/" + std::string(parts[i]);
    if (!resolve(top, next, how)) {
      auto parent = resolve(top, done, how);
      if (!parent) return parent;
      const bool last = i + 1 == parts.size();
      if (auto ok = makeEntry(parent->get(), std::string(parts[i]), last && made.file, made); !ok)
        return ok.error().in("{}", path);
    }
    done = next;
  }
  return resolve(top, path, how);
}

uint64_t attributesOf(const MountTraits& traits) {
  uint64_t out = 0;
  if (traits.readOnly) out |= MOUNT_ATTR_RDONLY;
  if (traits.noDevices) out |= MOUNT_ATTR_NODEV;
  if (traits.noSetuid) out |= MOUNT_ATTR_NOSUID;
  if (traits.noExecute) out |= MOUNT_ATTR_NOEXEC;
  return out;
}

}  // namespace

Result<UniqueFd> openPath(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!fd) return failErrno(errno, path);
  return fd;
}

Result<UniqueFd> openInRoot(int root, std::string_view path) {
  return resolve(root, path, RESOLVE_IN_ROOT);
}
Result<UniqueFd> openBeneath(int top, std::string_view path) {
  return resolve(top, path, RESOLVE_BENEATH);
}
Result<UniqueFd> makeInRoot(int root, std::string_view path, const Made& made) {
  return makeUnder(root, path, made, RESOLVE_IN_ROOT);
}
Result<UniqueFd> makeBeneath(int top, std::string_view path, const Made& made) {
  return makeUnder(top, path, made, RESOLVE_BENEATH);
}

Result<UniqueFd> cloneTree(int of, bool recursive) {
  const unsigned flags =
      OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0U);
  UniqueFd fd(::open_tree(of, "", flags));
  if (!fd) return failErrno(errno, "a mount of its own");
  return fd;
}

Result<> setTraits(int mount, const MountTraits& traits, bool recursive) {
  mount_attr want{};
  want.attr_set = attributesOf(traits);
  if (traits.users >= 0) {
    want.attr_set |= MOUNT_ATTR_IDMAP;
    want.userns_fd = static_cast<uint64_t>(traits.users);
  }
  if (want.attr_set == 0) return {};
  const unsigned flags = AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0U);
  if (::mount_setattr(mount, "", flags, &want, sizeof want) == 0) return {};
  return failErrno(errno, "traits of a mount");
}

Result<UniqueFd> newFileSystem(const char* type, std::string_view options,
                               const MountTraits& traits) {
  UniqueFd context(::fsopen(type, FSOPEN_CLOEXEC));
  if (!context) return failErrno(errno, type);
  for (auto option : split(options, ',')) {
    if (option.empty()) continue;
    const auto parts = cut(option, '=');
    const std::string key(parts.before), value(parts.after);
    const int failed =
        parts.found ? ::fsconfig(context.get(), FSCONFIG_SET_STRING, key.c_str(), value.c_str(), 0)
                    : ::fsconfig(context.get(), FSCONFIG_SET_FLAG, key.c_str(), nullptr, 0);
    if (failed != 0) return failErrno(errno, fmt::format("{} with {}", type, option));
  }
  if (::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0)
    return failErrno(errno, type);
  UniqueFd mount(
      ::fsmount(context.get(), FSMOUNT_CLOEXEC, static_cast<unsigned>(attributesOf(traits))));
  if (!mount) return failErrno(errno, type);
  return mount;
}

Result<> attach(int mount, int at) {
  if (::move_mount(mount, "", at, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0)
    return {};
  return failErrno(errno, "mount");
}

bool canMapUsers(const std::string& directory, int users) {
  auto fd = openPath(directory);
  auto tree = fd ? cloneTree(fd->get(), false) : std::move(fd);
  return tree && setTraits(tree->get(), {.users = users}, false).has_value();
}

}  // namespace mangrove::runtime
