#include "client/bench/api/own_server.h"

#include <cerrno>
#include <csignal>
#include <filesystem>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

extern char** environ;

namespace mangrove::client {

namespace {

constexpr int kStartLimitMillis = 30000;

Result<pid_t> spawn(const std::string& program, const std::string& dataDir, int out) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  std::string words[] = {program, "apiserver", "--data-dir", dataDir, "--port", "0"};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(),
                  words[4].data(), words[5].data(), nullptr};
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return failErrno(failed, "run " + program);
  return pid;
}

// Until the first line is whole.
Result<> awaitLine(int fd) {
  std::string line;
  for (char c = 0; c != '\n'; line += c) {
    pollfd ready{fd, POLLIN, 0};
    if (::poll(&ready, 1, kStartLimitMillis) <= 0)
      return fail(Code::kTimeout, "the server printed no address within {} s",
                  kStartLimitMillis / 1000);
    if (::read(fd, &c, 1) != 1)
      return fail(Code::kUnavailable, "the server ended before it printed its address");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<OwnServer>> OwnServer::start(const std::string& program,
                                                    const std::string& dataDir) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return failErrno(errno, "pipe");
  UniqueFd read(fds[0]), write(fds[1]);
  const MonoTime execAt = realClock().mono();
  auto pid = spawn(program, dataDir, write.get());
  if (!pid) return pass(pid.error());
  write.reset();
  std::unique_ptr<OwnServer> server(new OwnServer(*pid, execAt, dataDir, std::move(read)));
  if (auto line = awaitLine(server->out_.get()); !line) return pass(line.error());
  return server;
}

OwnServer::~OwnServer() {
  ::kill(pid_, SIGTERM);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

Result<ClientConfig> OwnServer::config() const {
  return loadClientConfig({.kubeconfig = dataDir_ + "/kubeconfig"});
}

}  // namespace mangrove::client
