#include "runtime/shim/child.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os/files.h"
#include "kernel/sys_root.h"
#include "runtime/shim/confine.h"
#include "runtime/shim/stage.h"

namespace mangrove::runtime {

namespace {

constexpr int kStartFailed = 128;  // as containerd reports what never ran

Result<> joinCgroups(const std::vector<std::string>& dirs) {
  const kernel::SysRoot root;
  for (const auto& dir : dirs) {
    auto ok = root.write(dir + "/cgroup.procs", "0");
    // The tree without controllers, beside those of version 1, is root's to move processes in; a
    // user's pods do without it.
    const bool spare = dir.find("/unified/") != std::string::npos && ::geteuid() != 0;
    if (!ok && !spare) return ok.error().in("joining");
  }
  return {};
}

// Raising it is always allowed; lowering needs a capability that some machines withhold.
void setOomScore(int64_t value) {
  const kernel::SysRoot root;
  (void)root.write("proc/self/oom_score_adj", std::to_string(value));
}

void resetSignals() {
  for (int i = 1; i < NSIG; ++i) std::signal(i, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

Result<> placeStdio(const Stdio& stdio) {
  if (stdio.tty) {
    if (::ioctl(stdio.in, TIOCSCTTY, 0) < 0) return failErrno(errno, "controlling terminal");
  }
  const int from[3] = {stdio.in, stdio.tty ? stdio.in : stdio.out,
                       stdio.tty ? stdio.in : stdio.err};
  for (int i = 0; i < 3; ++i)
    if (::dup2(from[i], i) < 0) return failErrno(errno, "standard streams");
  return {};
}

// Its standard streams may be opened again by their names in /proc, whoever it becomes.
void giveStreams(const ContainerSpecFile& spec) {
  const auto user = static_cast<uid_t>(spec.firstUser + spec.uid);
  for (int fd = 0; fd < 3; ++fd) {
    struct stat about {};
    const bool ours = ::fstat(fd, &about) == 0 && (S_ISFIFO(about.st_mode) || ::isatty(fd));
    if (ours && user != about.st_uid) (void)!::fchown(fd, user, static_cast<gid_t>(-1));
  }
}

// What a child needs beside the description, gathered while the machine's files are in reach.
struct Guard {
  int users = -1;
  std::string filter;
};

Result<Guard> guardOf(const ContainerSpecFile& spec, int users) {
  Guard out{users, ""};
  if (spec.filter.empty()) return out;
  auto program = readFile(spec.filter);
  if (!program) return program.error().in("filter of system calls");
  out.filter = std::move(*program);
  return out;
}

Result<> takeUser(const ContainerSpecFile& spec, const Guard& guard) {
  const bool mapped = guard.users >= 0;
  if (mapped && ::setns(guard.users, CLONE_NEWUSER) < 0) return failErrno(errno, "the pod's users");
  Confinement to{spec.uid,
                 spec.gid,
                 spec.groups,
                 static_cast<uint64_t>(spec.capabilities),
                 spec.noNewPrivileges,
                 guard.filter,
                 mapped};
  return confine(to);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const auto& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

std::string pathOf(const std::vector<std::string>& env) {
  for (const auto& one : env)
    if (one.starts_with("PATH=")) return one.substr(5);
  return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
}

// Words as the runtimes of containers use them, because users search for them.
std::string execTrouble(const std::string& program, int error) {
  if (error == ENOENT && program.find('/') == std::string::npos)
    return fmt::format("exec: \"{}\": executable file not found in $PATH", program);
  if (error == ENOENT) return fmt::format("exec: \"{}\": no such file or directory", program);
  if (error == EACCES) return fmt::format("exec: \"{}\": permission denied", program);
  return fmt::format("exec: \"{}\": {}", program, std::strerror(error));
}

std::string execute(const std::vector<std::string>& argv, const std::vector<std::string>& env) {
  auto args = pointers(argv);
  auto vars = pointers(env);
  ::setenv("PATH", pathOf(env).c_str(), 1);
  ::execvpe(argv[0].c_str(), args.data(), vars.data());
  return execTrouble(argv[0], errno);
}

Result<> changeDirectory(const std::string& dir) {
  if (dir.empty() || ::chdir(dir.c_str()) == 0) return {};
  return failErrno(errno, "working directory " + dir);
}

[[noreturn]] void giveUp(int trouble, const std::string& sentence) {
  (void)!::write(trouble, sentence.data(), sentence.size());
  ::_exit(kStartFailed);
}

// Enough for any server, far too few to use up the machine's; as much as we may give.
void limitFiles() {
  constexpr rlim_t kSoft = 65'536, kHard = 524'288;
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return;
  const rlimit want{std::min(kSoft, now.rlim_max), std::min(kHard, now.rlim_max)};
  (void)::setrlimit(RLIMIT_NOFILE, &want);
}

// The common end of both ways in.
[[noreturn]] void run(const ContainerSpecFile& spec, const std::vector<std::string>& argv,
                      const Stdio& stdio, const Guard& guard, int trouble) {
  auto check = [&](Result<> result) {
    if (!result) giveUp(trouble, result.error().text());
  };
  check(placeStdio(stdio));
  giveStreams(spec);
  check(changeDirectory(spec.cwd));
  limitFiles();
  resetSignals();
  check(takeUser(spec, guard));
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of user has cleared it
  giveUp(trouble, execute(argv, spec.env));
}

// Nobody in the container may look into, or take descriptors of, what is still our program.
void keepOthersOut() {
  if (::geteuid() == 0) ::prctl(PR_SET_DUMPABLE, 0);
}

[[noreturn]] void beContainer(const ContainerSpecFile& spec, const Stdio& stdio, const Guard& guard,
                              int trouble) {
  keepOthersOut();
  ::setsid();
  if (auto ok = joinCgroups(spec.cgroups); !ok) giveUp(trouble, ok.error().text());
  setOomScore(spec.oomScoreAdj);
  if (spec.ownMounts)
    if (auto ok = enterStage(spec, guard.users); !ok) giveUp(trouble, ok.error().text());
  run(spec, spec.argv, stdio, guard, trouble);
}

Result<> enterMounts(pid_t into) {
  const kernel::SysRoot root;
  auto ns = root.open(fmt::format("proc/{}/ns/mnt", into), kernel::Access::kRead);
  if (!ns) return pass(ns.error());
  if (::setns(ns->fd(), CLONE_NEWNS) < 0) return failErrno(errno, "mount namespace");
  return {};
}

pid_t cloneWith(unsigned long flags) {
  return static_cast<pid_t>(::syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, 0));
}

// Children made while it lasts are born in the PID namespace of another process; we stay in ours.
class PidVisit {
 public:
  Result<> enter(pid_t host) {
    const kernel::SysRoot root;
    auto own = root.open("proc/self/ns/pid", kernel::Access::kRead);
    auto theirs = root.open(fmt::format("proc/{}/ns/pid", host), kernel::Access::kRead);
    if (!own || !theirs) return fail(Code::kGone, "process {} has ended", host);
    if (::setns(theirs->fd(), CLONE_NEWPID) < 0) return failErrno(errno, "PID namespace");
    home_.emplace(std::move(*own));
    return {};
  }
  ~PidVisit() {
    if (home_) (void)::setns(home_->fd(), CLONE_NEWPID);
  }

 private:
  std::optional<kernel::File> home_;
};

struct TroublePipe {
  UniqueFd read, write;
};

Result<TroublePipe> troublePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return failErrno(errno, "pipe");
  return TroublePipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

Result<Started> startContainer(const ContainerSpecFile& spec, const Stdio& stdio, pid_t pidsOf,
                               int users) {
  if (spec.argv.empty()) return invalid("container {} has no command", spec.name);
  auto trouble = troublePipe();
  if (!trouble) return pass(trouble.error());
  auto guard = guardOf(spec, users);
  if (!guard) return pass(guard.error());
  const bool joins = spec.ownPids && pidsOf > 0;
  PidVisit visit;
  if (joins)
    if (auto ok = visit.enter(pidsOf); !ok) return ok.error().in("container {}", spec.name);
  const unsigned long flags =
      (spec.ownPids && !joins ? CLONE_NEWPID : 0UL) | (spec.ownMounts ? CLONE_NEWNS : 0UL);
  const pid_t pid = cloneWith(flags);
  const int error = errno;
  if (pid == 0) beContainer(spec, stdio, *guard, trouble->write.get());
  if (pid < 0) return failErrno(error, "clone of container " + spec.name);
  return Started{pid, std::move(trouble->read)};
}

Result<pid_t> startPidKeeper() {
  const pid_t pid = cloneWith(CLONE_NEWPID);
  if (pid < 0) return failErrno(errno, "PID namespace of the pod");
  if (pid > 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, "pod-pids");
  resetSignals();
  std::signal(SIGCHLD, SIG_IGN);  // the kernel buries what ends
  ::setsid();
  ::close_range(0, ~0U, 0);
  for (;;) ::pause();
}

Result<Started> startExec(const ContainerSpecFile& spec, pid_t into,
                          const std::vector<std::string>& argv, const Stdio& stdio, int users) {
  if (argv.empty()) return invalid("exec in container {}: no command", spec.name);
  auto trouble = troublePipe();
  if (!trouble) return pass(trouble.error());
  auto guard = guardOf(spec, users);
  if (!guard) return pass(guard.error());
  PidVisit visit;
  if (spec.ownPids)
    if (auto ok = visit.enter(into); !ok) return ok.error().in("container {}", spec.name);
  const pid_t pid = cloneWith(0);
  const int error = errno;
  if (pid == 0) {
    keepOthersOut();
    ::setsid();
    if (auto ok = joinCgroups(spec.cgroups); !ok) giveUp(trouble->write.get(), ok.error().text());
    setOomScore(spec.oomScoreAdj);
    if (spec.ownMounts)
      if (auto ok = enterMounts(into); !ok) giveUp(trouble->write.get(), ok.error().text());
    run(spec, argv, stdio, *guard, trouble->write.get());
  }
  if (pid < 0) return failErrno(error, "fork for exec in container " + spec.name);
  return Started{pid, std::move(trouble->read)};
}

}  // namespace mangrove::runtime
