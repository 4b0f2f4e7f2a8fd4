#include "agent/canary/keeper.h"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/log.h"

namespace mangrove::agent {
namespace {

const Logger log("canary");
constexpr size_t kMostRest = 4096;

}  // namespace

CanaryKeeper::~CanaryKeeper() {
  pipe_.reset();
  if (child_ == 0) return;
  ::kill(child_, SIGTERM);
  ::waitpid(child_, nullptr, 0);
}

Result<> CanaryKeeper::spawn() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failErrno(errno, "pipe");
  UniqueFd reader(ends[0]);
  const UniqueFd writer(ends[1]);
  ::fcntl(reader.get(), F_SETFL, O_NONBLOCK);
  std::vector<std::string> words = {program_, "agent", "canary", "--root", root_};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, writer.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, program_.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return failErrno(error, "start the canary " + program_);
  child_ = pid;
  pipe_ = std::move(reader);
  return {};
}

void CanaryKeeper::reap() {
  if (child_ == 0 || ::waitpid(child_, nullptr, WNOHANG) == 0) return;
  trouble_ = "the canary ended";
  log.warn("{} (process {}); it is started again in a while", trouble_, child_);
  child_ = 0;
  pipe_.reset();
}

std::vector<std::string> CanaryKeeper::lines() {
  char buffer[1024];
  for (ssize_t size = 0; pipe_ && (size = ::read(pipe_.get(), buffer, sizeof buffer)) > 0;)
    rest_.append(buffer, static_cast<size_t>(size));
  std::vector<std::string> out;
  for (size_t end = 0; (end = rest_.find('\n')) != std::string::npos;) {
    out.push_back(rest_.substr(0, end));
    rest_.erase(0, end + 1);
  }
  if (rest_.size() > kMostRest) rest_.clear();
  return out;
}

std::vector<KnobAlarm> CanaryKeeper::tick(MonoTime now, const KnobFindings& read) {
  std::vector<KnobAlarm> out;
  for (const std::string& line : lines()) {
    const auto round = parseRound(line);
    if (!round) continue;
    if (round->trouble != trouble_ && !round->trouble.empty())
      log.warn("the canary cannot try everything: {}", round->trouble);
    trouble_ = round->trouble;
    KnobFindings all = judged(*round);
    all.insert(read.begin(), read.end());
    for (KnobAlarm& one : alarms_.add(all)) out.push_back(std::move(one));
  }
  reap();
  const bool due = startedAt_ == MonoTime::min() || now - startedAt_ >= kRestartAfter;
  if (child_ == 0 && due) {
    startedAt_ = now;
    if (auto ok = spawn(); !ok) {
      trouble_ = ok.error().text();
      log.warn("{}", trouble_);
    }
  }
  return out;
}

}  // namespace mangrove::agent
