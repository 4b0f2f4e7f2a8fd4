#include "client/http/child_process.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/fd.h"

extern char** environ;

namespace mangrove::client {

namespace {

constexpr size_t kMaxErr = 4096;

struct Pipe {
  UniqueFd read, write;
};

Result<Pipe> makePipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return failErrno(errno, "pipe");
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

std::vector<std::string> environment(const ChildSpec& spec) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view text(*entry);
    std::string_view name = text.substr(0, text.find('='));
    bool replaced = std::any_of(spec.env.begin(), spec.env.end(),
                                [&](const auto& pair) { return pair.first == name; });
    if (!replaced) out.emplace_back(text);
  }
  for (const auto& [name, value] : spec.env) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// A process of its own group, so that its children end with it. The destructor leaves no zombie.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  ~Child() {
    if (pid_ > 0) end();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void kill() { ::kill(-pid_, SIGKILL); }
  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  // The exit code if it has ended already.
  bool ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid_;
  }

 private:
  void end() {
    kill();
    wait();
  }
  pid_t pid_;
};

Result<pid_t> spawn(const ChildSpec& spec, int out, int err) {
  std::vector<std::string> words{spec.command};
  words.insert(words.end(), spec.args.begin(), spec.args.end());
  std::vector<std::string> env = environment(spec);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // Signals blocked or ignored by us are no business of the plugin's.
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  int failed = ::posix_spawnp(&pid, spec.command.c_str(), &actions, &attributes,
                              pointers(words).data(), pointers(env).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) return failErrno(failed, fmt::format("run '{}'", spec.command));
  return pid;
}

// Appends what is there; false at the end of the stream.
bool readSome(int fd, std::string& into, size_t limit) {
  std::array<char, 16384> buffer;
  ssize_t got = ::read(fd, buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  if (into.size() < limit)
    into.append(buffer.data(), std::min(static_cast<size_t>(got), limit - into.size()));
  return got > 0;
}

Result<> checkLimits(const ChildSpec& spec, Clock& clock, MonoTime deadline) {
  if (spec.cancelled != nullptr && *spec.cancelled)
    return fail(Code::kCancelled, "'{}' was ended because nobody needs it any more", spec.command);
  if (clock.mono() < deadline) return {};
  return fail(Code::kTimeout, "'{}' did not finish within {} s", spec.command,
              std::chrono::duration_cast<std::chrono::seconds>(spec.timeout).count());
}

// Until both streams have ended, or the program has and left a grandchild holding them.
Result<> collect(const ChildSpec& spec, Clock& clock, MonoTime deadline, Child& child, UniqueFd out,
                 UniqueFd err, ChildOutput& output) {
  constexpr int kSlice = 100;  // ms; how often we look whether the program itself has ended
  while (out || err) {
    if (auto good = checkLimits(spec, clock, deadline); !good) return good;
    pollfd fds[2] = {{out ? out.get() : -1, POLLIN, 0}, {err ? err.get() : -1, POLLIN, 0}};
    int ready = ::poll(fds, 2, kSlice);
    if (ready < 0 && errno != EINTR) return failErrno(errno, "poll");
    if (ready == 0 && child.ended()) return {};
    if (out && fds[0].revents != 0 && !readSome(out.get(), output.out, spec.maxOutput + 1))
      out.reset();
    if (err && fds[1].revents != 0 && !readSome(err.get(), output.err, kMaxErr)) err.reset();
    if (output.out.size() > spec.maxOutput)
      return fail(Code::kTooLarge, "'{}' printed more than {} bytes", spec.command, spec.maxOutput);
  }
  return {};
}

// A program may close its output and go on.
Result<> awaitEnd(const ChildSpec& spec, Clock& clock, Child& child, MonoTime deadline) {
  while (!child.ended()) {
    if (auto good = checkLimits(spec, clock, deadline); !good) return good;
    ::poll(nullptr, 0, 10);
  }
  return {};
}

}  // namespace

Result<ChildOutput> runChild(const ChildSpec& spec, Clock& clock) {
  auto out = makePipe();
  if (!out) return pass(out.error());
  auto err = makePipe();
  if (!err) return pass(err.error());
  MonoTime deadline = clock.mono() + spec.timeout;
  auto pid = spawn(spec, out->write.get(), err->write.get());
  if (!pid) return pass(pid.error());
  Child child(*pid);
  out->write.reset();
  err->write.reset();
  ChildOutput output;
  auto good =
      collect(spec, clock, deadline, child, std::move(out->read), std::move(err->read), output);
  if (good) good = awaitEnd(spec, clock, child, deadline);
  if (!good) return pass(good.error());
  output.exitCode = child.wait();
  return output;
}

}  // namespace mangrove::client
