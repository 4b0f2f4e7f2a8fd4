#include "runtime/shim/seccomp_filter.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os/fd.h"
#include "runtime/core/containment.h"

namespace mangrove::runtime {

namespace {

struct Guarded {
  std::string_view call;
  std::string_view by;  // capabilities that give it back, separated by '|'; "": nothing does
};

constexpr Guarded kGuarded[] = {
    // The kernel's own code and keys.
    {"bpf", "SYS_ADMIN|BPF"},
    {"init_module", "SYS_MODULE"},
    {"finit_module", "SYS_MODULE"},
    {"delete_module", "SYS_MODULE"},
    {"create_module", ""},
    {"query_module", ""},
    {"get_kernel_syms", ""},
    {"kexec_load", "SYS_BOOT"},
    {"kexec_file_load", "SYS_BOOT"},
    {"reboot", "SYS_BOOT"},
    {"add_key", ""},
    {"keyctl", ""},
    {"request_key", ""},
    {"perf_event_open", "SYS_ADMIN|PERFMON"},
    {"userfaultfd", ""},
    {"io_uring_setup", ""},
    {"io_uring_enter", ""},
    {"io_uring_register", ""},
    {"lookup_dcookie", "SYS_ADMIN|PERFMON"},
    {"fanotify_init", "SYS_ADMIN"},
    {"quotactl", "SYS_ADMIN"},
    {"quotactl_fd", "SYS_ADMIN"},
    {"syslog", "SYS_ADMIN|SYSLOG"},
    {"acct", "SYS_PACCT"},
    {"iopl", "SYS_RAWIO"},
    {"ioperm", "SYS_RAWIO"},
    {"vhangup", "SYS_TTY_CONFIG"},
    // File systems and namespaces.
    {"mount", "SYS_ADMIN"},
    {"umount", "SYS_ADMIN"},
    {"umount2", "SYS_ADMIN"},
    {"pivot_root", "SYS_ADMIN"},
    {"fsopen", "SYS_ADMIN"},
    {"fsconfig", "SYS_ADMIN"},
    {"fsmount", "SYS_ADMIN"},
    {"fspick", "SYS_ADMIN"},
    {"move_mount", "SYS_ADMIN"},
    {"open_tree", "SYS_ADMIN"},
    {"mount_setattr", "SYS_ADMIN"},
    {"setns", "SYS_ADMIN"},
    {"unshare", "SYS_ADMIN"},
    {"swapon", "SYS_ADMIN"},
    {"swapoff", "SYS_ADMIN"},
    {"sethostname", "SYS_ADMIN"},
    {"setdomainname", "SYS_ADMIN"},
    {"open_by_handle_at", "DAC_READ_SEARCH"},
    {"name_to_handle_at", "SYS_ADMIN|DAC_READ_SEARCH"},
    // The clock.
    {"settimeofday", "SYS_TIME"},
    {"stime", "SYS_TIME"},
    {"clock_settime", "SYS_TIME"},
    {"clock_settime64", "SYS_TIME"},
    // Other processes' insides, and what nobody needs any more.
    {"kcmp", "SYS_PTRACE"},
    {"pidfd_getfd", "SYS_PTRACE"},
    {"process_madvise", "SYS_PTRACE"},
    {"mbind", "SYS_NICE"},
    {"set_mempolicy", "SYS_NICE"},
    {"set_mempolicy_home_node", "SYS_NICE"},
    {"move_pages", "SYS_NICE"},
    {"migrate_pages", "SYS_NICE"},
    {"nfsservctl", ""},
    {"sysfs", ""},
    {"_sysctl", ""},
    {"ustat", ""},
    {"uselib", ""},
    {"vm86", ""},
    {"vm86old", ""},
};

constexpr uint64_t kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                 CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWTIME;
// Personalities that change nothing which the kernel protects: none, 16-bit counters, the old name.
constexpr uint64_t kPersonalities[] = {0x0, 0x8, 0x20000, 0x20008, 0xffffffff};
constexpr uint64_t kAlg = 38, kVsock = 40;  // address families that reach kernel and hypervisor
constexpr uint64_t kFamilies = 46;          // the kernel's list ends there

bool has(uint64_t capabilities, std::string_view name) {
  return (capabilities >> *capabilityNumber(name)) & 1;
}

bool givenBack(const Guarded& call, uint64_t capabilities) {
  for (std::string_view rest = call.by; !rest.empty();) {
    const size_t bar = rest.find('|');
    if (has(capabilities, rest.substr(0, bar))) return true;
    rest = bar == std::string_view::npos ? std::string_view() : rest.substr(bar + 1);
  }
  return false;
}

class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_ERRNO(ENOSYS)), seccomp_release) {}

  Result<> build(uint64_t capabilities) {
    if (!context_) return fail(Code::kUnsupported, "no seccomp filter can be made");
    seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
    seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));
    std::set<int> special;
    refuse(capabilities, special);
    narrow(capabilities, special);
    allowTheRest(special);
    return failed_ == 0 ? Result<>() : failErrno(-failed_, "seccomp filter");
  }

  // Through a file of memory, because the library writes to descriptors.
  Result<std::string> program() {
    UniqueFd fd(::memfd_create("seccomp", MFD_CLOEXEC));
    if (!fd) return failErrno(errno, "memory for the seccomp filter");
    if (const int failed = seccomp_export_bpf(context_.get(), fd.get()); failed != 0)
      return failErrno(-failed, "seccomp filter");
    std::string out(static_cast<size_t>(::lseek(fd.get(), 0, SEEK_END)), '\0');
    if (::pread(fd.get(), out.data(), out.size(), 0) != static_cast<ssize_t>(out.size()))
      return failErrno(errno, "seccomp filter");
    return out;
  }

 private:
  template <typename... Arguments>
  void rule(uint32_t action, int call, Arguments... arguments) {
    const int failed =
        seccomp_rule_add(context_.get(), action, call, sizeof...(arguments), arguments...);
    if (failed != 0 && failed_ == 0) failed_ = failed;
  }

  static int number(std::string_view name) {
    return seccomp_syscall_resolve_name(std::string(name).c_str());
  }

  void refuse(uint64_t capabilities, std::set<int>& special) {
    for (const auto& call : kGuarded) {
      const int which = number(call.call);
      if (which < 0 || givenBack(call, capabilities)) continue;  // another architecture's
      rule(SCMP_ACT_ERRNO(EPERM), which);
      special.insert(which);
    }
  }

  // Calls that are allowed with some arguments only.
  void narrow(uint64_t capabilities, std::set<int>& special) {
    if (!has(capabilities, "SYS_ADMIN")) {
      rule(SCMP_ACT_ALLOW, SCMP_SYS(clone), SCMP_A0(SCMP_CMP_MASKED_EQ, kNamespaces, uint64_t{0}));
      // Its flags lie in memory, where no filter looks; libraries fall back to clone.
      special.insert({SCMP_SYS(clone), SCMP_SYS(clone3)});
    }
    for (uint64_t personality : kPersonalities)
      rule(SCMP_ACT_ALLOW, SCMP_SYS(personality), SCMP_A0(SCMP_CMP_EQ, personality));
    // By name of each: the kernel reads 32 of the 64 bits that a filter compares, so "above" and
    // "not equal" would let a forbidden one pass with a bit set beyond them.
    for (uint64_t family = 0; family < kFamilies; ++family)
      if (family != kAlg && family != kVsock)
        rule(SCMP_ACT_ALLOW, SCMP_SYS(socket), SCMP_A0(SCMP_CMP_EQ, family));
    special.insert({SCMP_SYS(personality), SCMP_SYS(socket)});
  }

  void allowTheRest(const std::set<int>& special) {
    constexpr int kBeyondAll = 1024;  // the list of this architecture ends far below
    for (int call = 0; call < kBeyondAll; ++call) {
      if (special.contains(call)) continue;
      const std::unique_ptr<char, decltype(&std::free)> name(
          seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, call), &std::free);
      if (name) rule(SCMP_ACT_ALLOW, call);
    }
  }

  std::unique_ptr<void, decltype(&seccomp_release)> context_;
  int failed_ = 0;
};

}  // namespace

Result<std::string> filterProgram(uint64_t capabilities) {
  Filter filter;
  if (auto ok = filter.build(capabilities); !ok) return pass(ok.error());
  return filter.program();
}

Result<> filterCalls(const std::string& program) {
  std::vector<sock_filter> steps(program.size() / sizeof(sock_filter));
  std::memcpy(steps.data(), program.data(), steps.size() * sizeof(sock_filter));
  const sock_fprog all{static_cast<unsigned short>(steps.size()), steps.data()};
  if (steps.empty()) return invalid("the seccomp filter is empty");
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &all) == 0) return {};
  return failErrno(errno, "seccomp filter");
}

}  // namespace mangrove::runtime
