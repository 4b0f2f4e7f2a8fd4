#include "agent/guardian/guardian.h"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/executor/owners.h"
#include "agent/executor/reflex_file.h"
#include "base/os/log.h"
#include "kernel/resource_names.h"

extern char** environ;

namespace mangrove::agent {
namespace {

const Logger log("guardian");

constexpr int kPipeInChild = 3;
// A child that dies is started again, but not in a tight loop.
constexpr Duration kRestartAfter = std::chrono::seconds(5);

volatile std::sig_atomic_t ending = 0;

// Waits for the pipe to close; true once it has.
bool waitClosed(int pipe, Duration limit) {
  pollfd fd{pipe, POLLIN, 0};
  const int ms = static_cast<int>(limit / std::chrono::milliseconds(1));
  if (::poll(&fd, pipe >= 0 ? 1 : 0, ms) <= 0 || pipe < 0) return false;
  return (fd.revents & (POLLHUP | POLLERR)) != 0;
}

}  // namespace

namespace {

// v1 refuses a group's quota below one of its children's: those come first, the deepest before all.
void lowerChildren(const kernel::SysRoot& root, const std::string& dir, const std::string& file,
                   const Heartbeat& beat) {
  auto entries = root.list(dir);
  if (!entries) return;
  for (const kernel::Entry& entry : *entries) {
    if (!entry.isDir) continue;
    const std::string child = dir + "/" + entry.name;
    lowerChildren(root, child, file, beat);
    auto quota =
        ReflexFile::open(root, child + "/" + file,
                         {kernel::resource_name::kCpuQuota, owner::kFailSafe, beat.version});
    if (quota) (void)quota->narrow(beat.safe, quota->present());
  }
}

// Best-effort work keeps the memory it has and gets no more: nobody takes it back any more.
void holdMemory(const kernel::SysRoot& root, const Heartbeat& beat) {
  if (beat.memoryFile.empty() || beat.memory == kUnlimited) return;
  const std::string_view resource = beat.version == kernel::CgroupVersion::kV2
                                        ? kernel::resource_name::kMemoryHigh
                                        : kernel::resource_name::kMemoryLimit;
  auto file = ReflexFile::open(root, beat.memoryFile, {resource, owner::kGiveBack, beat.version});
  if (file) (void)file->narrow(beat.memory, file->present());
}

}  // namespace

Result<Guarded> putOnSafeLimit(const kernel::SysRoot& root, const Heartbeat& beat) {
  auto file = ReflexFile::open(root, beat.quotaFile,
                               {kernel::resource_name::kCpuQuota, owner::kFailSafe, beat.version});
  if (!file && file.error().code() == Code::kNotFound) return Guarded::kNothing;
  if (!file) return pass(file.error());
  const size_t slash = beat.quotaFile.rfind('/');
  if (beat.version == kernel::CgroupVersion::kV1 && slash != std::string::npos)
    lowerChildren(root, beat.quotaFile.substr(0, slash), beat.quotaFile.substr(slash + 1), beat);
  holdMemory(root, beat);
  const auto lowered = file->narrow(beat.safe, file->present());
  if (!lowered) return pass(lowered.error());
  return *lowered ? Guarded::kLowered : Guarded::kWithin;
}

Result<> runGuardian(const GuardianOptions& options, const Clock& clock) {
  const kernel::SysRoot root(options.root);
  ::signal(SIGTERM, [](int) { ending = 1; });
  ::signal(SIGINT, SIG_IGN);  // of the terminal: the agent's business
  bool closed = false;
  MonoTime closedAt{}, guardedAt = clock.mono();
  std::string said;
  while (ending == 0) {
    if (!closed && waitClosed(static_cast<int>(options.pipe), options.interval))
      closed = true, closedAt = clock.mono();
    else if (closed)
      (void)waitClosed(-1, options.interval);
    auto beat = readHeartbeat(options.heartbeat);
    if (!beat) {
      if (closed) return {};
      continue;
    }
    // The agent is gone for good, or somebody else beats now and has a guardian of its own.
    if (closed && (beat->bye || beat->at > closedAt)) return {};
    if (!closed) guardedAt = clock.mono();
    if (clock.mono() - guardedAt > options.forget) return {};
    if (!mustGuard(*beat, clock.mono(), closed, options.patience)) continue;
    auto done = putOnSafeLimit(root, *beat);
    if (!done || *done != Guarded::kNothing) guardedAt = clock.mono();
    if (done && *done == Guarded::kLowered)
      log.warn("the agent {}: best-effort work is put on {} us", closed ? "died" : "hangs",
               beat->safe);
    if (!done && done.error().text() != said) log.warn("{}", said = done.error().text());
  }
  return {};
}

GuardianKeeper::GuardianKeeper(std::string heartbeat, std::string program, std::string root)
    : file_(std::move(heartbeat)), program_(std::move(program)), root_(std::move(root)) {}

GuardianKeeper::~GuardianKeeper() {
  (void)file_.bye();
  pipe_.reset();
  if (child_ == 0) return;
  ::kill(child_, SIGTERM);
  ::waitpid(child_, nullptr, 0);
}

Result<> GuardianKeeper::spawn() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failErrno(errno, "pipe");
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  std::vector<std::string> words = {program_,      "agent",      "guardian",
                                    "--heartbeat", file_.path(), "--root",
                                    root_,         "--pipe",     std::to_string(kPipeInChild)};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, reader.get(), kPipeInChild);
  posix_spawn_file_actions_addclosefrom_np(&actions, kPipeInChild + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // Signals of the agent's terminal are not for it.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t pid = 0;
  const int error =
      ::posix_spawn(&pid, program_.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return failErrno(error, "start the guardian " + program_);
  child_ = pid;
  pipe_ = std::move(writer);
  return {};
}

void GuardianKeeper::reap() {
  if (child_ == 0 || ::waitpid(child_, nullptr, WNOHANG) == 0) return;
  log.warn("the guardian {} ended and is started again", child_);
  child_ = 0;
  pipe_.reset();
}

void GuardianKeeper::beat(const Heartbeat& beat) {
  auto ok = file_.beat(beat);
  reap();
  const bool due = startedAt_ == MonoTime::min() || beat.at - startedAt_ >= kRestartAfter;
  if (ok && child_ == 0 && !program_.empty() && due) {
    startedAt_ = beat.at;
    ok = spawn();
  }
  if (!ok && ok.error().text() != trouble_)
    log.warn("nobody guards best-effort work: {}", ok.error().text());
  trouble_ = ok ? "" : ok.error().text();
}

}  // namespace mangrove::agent
