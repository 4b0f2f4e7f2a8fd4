#include "runtime/shim/confine.h"

#include <cerrno>

#include <fmt/core.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/shim/seccomp_filter.h"

namespace mangrove::runtime {

namespace {

Result<> becomeUser(const Confinement& to) {
  std::vector<gid_t> groups;
  for (int64_t group : to.groups) groups.push_back(static_cast<gid_t>(group));
  if (::setgroups(groups.size(), groups.data()) < 0 && (to.mapped || ::getuid() == 0))
    return failErrno(errno, "supplementary groups");
  if ((to.mapped || to.gid != ::getgid()) && ::setgid(static_cast<gid_t>(to.gid)) < 0)
    return failErrno(errno, fmt::format("group {}", to.gid));
  if ((to.mapped || to.uid != ::getuid()) && ::setuid(static_cast<uid_t>(to.uid)) < 0)
    return failErrno(errno, fmt::format("user {}", to.uid));
  return {};
}

// The most that any program of this process can ever have. Numbers beyond the kernel's list end it.
Result<> limitCapabilities(uint64_t keep) {
  for (int number = 0; ::prctl(PR_CAPBSET_READ, number) >= 0; ++number) {
    if (number < 64 && ((keep >> number) & 1)) continue;
    if (::prctl(PR_CAPBSET_DROP, number) < 0 && errno != EINVAL)
      return failErrno(errno, fmt::format("dropping capability {}", number));
  }
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  return {};
}

// What it has now; a change of user from root has taken them all already.
Result<> setCapabilities(uint64_t want) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct now[2] = {};
  if (::syscall(SYS_capget, &header, now) < 0) return failErrno(errno, "capabilities");
  const auto half = [want](int i) { return static_cast<uint32_t>(want >> (32 * i)); };
  __user_cap_data_struct data[2] = {};
  for (int i = 0; i < 2; ++i) data[i].effective = data[i].permitted = now[i].permitted & half(i);
  if (::syscall(SYS_capset, &header, data) < 0) return failErrno(errno, "capabilities");
  return {};
}

}  // namespace

Result<> confine(const Confinement& to) {
  // A user without capabilities may load a filter only once he has given up set-user-id programs.
  if (to.noNewPrivileges && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
    return failErrno(errno, "no_new_privs");
  if (!to.filter.empty())
    if (auto ok = filterCalls(to.filter); !ok) return ok;
  if (auto ok = limitCapabilities(to.capabilities); !ok) return ok;
  if (auto ok = becomeUser(to); !ok) return ok;
  return setCapabilities(to.capabilities);
}

}  // namespace mangrove::runtime
