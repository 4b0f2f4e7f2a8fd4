#include "runtime/shim/pod_users.h"

#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/sys_root.h"
#include "runtime/core/containment.h"
#include "runtime/shim/mounts.h"

namespace mangrove::runtime {

namespace {

bool say(int fd) {
  const char word = 'x';
  return ::write(fd, &word, 1) == 1;
}
bool hear(int fd) {
  char word = 0;
  return ::read(fd, &word, 1) == 1 && word == 'x';
}

// The child that holds the namespaces until they have been opened: users first, then those that
// shall belong to them.
[[noreturn]] void holdNamespaces(int link, int namespaces) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const bool made = ::unshare(CLONE_NEWUSER) == 0 && say(link) && hear(link) &&
                    (namespaces == 0 || ::unshare(namespaces) == 0) && say(link);
  if (made) (void)hear(link);  // until the parent has what it wants
  ::_exit(made ? 0 : 1);
}

Result<> writeMaps(pid_t child, int64_t first) {
  const kernel::SysRoot root;
  const std::string line = fmt::format("0 {} {}", first, kMappedUsers);
  for (const char* map : {"uid_map", "gid_map"}) {
    auto file = root.open(fmt::format("proc/{}/{}", child, map), kernel::Access::kWrite);
    if (!file) return pass(file.error());
    if (::write(file->fd(), line.data(), line.size()) < 0) return failErrno(errno, map);
  }
  return {};
}

Result<> joinNamespaces(pid_t child, int namespaces) {
  static constexpr std::pair<int, const char*> kKinds[] = {
      {CLONE_NEWNET, "net"}, {CLONE_NEWIPC, "ipc"}, {CLONE_NEWUTS, "uts"}};
  const kernel::SysRoot root;
  for (const auto& [kind, name] : kKinds) {
    if ((namespaces & kind) == 0) continue;
    auto ns = root.open(fmt::format("proc/{}/ns/{}", child, name), kernel::Access::kRead);
    if (!ns) return pass(ns.error());
    if (::setns(ns->fd(), kind) < 0) return failErrno(errno, fmt::format("{} namespace", name));
  }
  return {};
}

Result<UniqueFd> takeFrom(pid_t child, int link, int64_t first, int namespaces) {
  if (!hear(link)) return fail(Code::kDenied, "this machine permits no user namespaces");
  if (auto ok = writeMaps(child, first); !ok) return pass(ok.error());
  if (!say(link) || !hear(link)) return fail(Code::kDenied, "the pod's namespaces were refused");
  const kernel::SysRoot root;
  auto users = root.open(fmt::format("proc/{}/ns/user", child), kernel::Access::kRead);
  if (!users) return pass(users.error());
  if (auto ok = joinNamespaces(child, namespaces); !ok) return pass(ok.error());
  return UniqueFd(::fcntl(users->fd(), F_DUPFD_CLOEXEC, 0));
}

}  // namespace

Result<UniqueFd> makePodUsers(int64_t first, int namespaces) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
    return failErrno(errno, "socket pair");
  UniqueFd ours(ends[0]), theirs(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return failErrno(errno, "fork");
  if (child == 0) {
    ours.reset();
    holdNamespaces(theirs.get(), namespaces);
  }
  theirs.reset();
  auto users = takeFrom(child, ours.get(), first, namespaces);
  ours.reset();
  ::waitpid(child, nullptr, 0);
  return users;
}

bool permitsPodUsers(const std::string& dataDir) {
  if (::geteuid() != 0) return false;
  constexpr int64_t kAnyRange = 16 * kMappedUsers;
  auto users = makePodUsers(kAnyRange, 0);
  // Secrets and volumes in memory are mapped as well.
  auto memory = newFileSystem("tmpfs", "size=4k", {});
  if (!users || !memory || !setTraits(memory->get(), {.users = users->get()}, false)) return false;
  return canMapUsers(dataDir, users->get()) && canMapUsers("/usr", users->get()) &&
         canMapUsers("/etc", users->get());
}

}  // namespace mangrove::runtime
