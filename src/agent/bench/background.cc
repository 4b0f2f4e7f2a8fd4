#include "agent/bench/background.h"

#include <csignal>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace mangrove::agent {

Result<std::unique_ptr<Background>> Background::start(std::vector<std::string> words,
                                                      const std::string& logFile) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int fd : {1, 2})
    posix_spawn_file_actions_addopen(&actions, fd, logFile.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                     0600);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return failErrno(error, "start " + words[0]);
  return std::unique_ptr<Background>(new Background(pid));
}

Background::~Background() {
  ::kill(pid_, SIGTERM);
  for (int i = 0; i < 300; ++i) {
    if (::waitpid(pid_, nullptr, WNOHANG) != 0) return;
    ::usleep(10000);
  }
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

}  // namespace mangrove::agent
