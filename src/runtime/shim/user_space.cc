#include "runtime/shim/user_space.h"

#include <cerrno>

#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

#include "kernel/sys_root.h"

namespace mangrove::runtime {

namespace {

// These files take one plain write and no position.
Result<> say(const std::string& path, const std::string& text) {
  const kernel::SysRoot root;
  auto file = root.open(path, kernel::Access::kWrite);
  if (!file) return pass(file.error());
  if (::write(file->fd(), text.data(), text.size()) < 0) return failErrno(errno, path);
  return {};
}

}  // namespace

Result<> enterUserNamespace() {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  if (::unshare(CLONE_NEWUSER) < 0) return failErrno(errno, "user namespace");
  // Files keep their owners: the one user we have is called inside as it is outside.
  if (auto ok = say("proc/self/setgroups", "deny"); !ok) return ok;
  if (auto ok = say("proc/self/uid_map", fmt::format("{} {} 1", uid, uid)); !ok) return ok;
  return say("proc/self/gid_map", fmt::format("{} {} 1", gid, gid));
}

}  // namespace mangrove::runtime
