#include "client/bench/api/measured_child.h"

#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/bench/api/process_probe.h"

extern char** environ;

namespace mangrove::client {

Result<std::unique_ptr<MeasuredChild>> MeasuredChild::start(const std::string& command,
                                                            const std::string& logFile) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, logFile.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  std::string words[] = {"/bin/sh", "-c", "exec " + command};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, "/bin/sh", &actions, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return failErrno(failed, "run " + command);
  return std::unique_ptr<MeasuredChild>(new MeasuredChild(pid));
}

bool MeasuredChild::running() {
  if (!reaped_) reaped_ = ::waitpid(pid_, nullptr, WNOHANG) == pid_;
  return !reaped_;
}

MeasuredChild::~MeasuredChild() {
  constexpr int kPatience = 50;  // tenths of a second
  if (running()) ::kill(pid_, SIGTERM);
  resume();
  for (int i = 0; i < kPatience && running(); ++i) ::poll(nullptr, 0, 100);
  if (!running()) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string MeasuredChild::read(const char* file) const {
  std::array<char, 16384> buffer;
  auto got = root_.read(fmt::format("proc/{}/{}", pid_, file), buffer);
  return got && *got ? std::string(buffer.data(), **got) : "";
}

void MeasuredChild::pause() {
  if (running()) ::kill(pid_, SIGSTOP);
}

void MeasuredChild::resume() {
  if (running()) ::kill(pid_, SIGCONT);
}

double MeasuredChild::cpuSeconds() const {
  return processorSecondsOf(pid_);
}

int64_t MeasuredChild::peakBytes() const {
  return kilobytesOf(read("status"), "VmHWM:") * 1024;
}

}  // namespace mangrove::client
