#include "runtime/node/network/way_out.h"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/fd.h"
#include "base/text/strings.h"
#include "runtime/node/pods/pod_prep.h"

namespace mangrove::runtime {

namespace {

constexpr std::string_view kForward = "proc/sys/net/ipv4/ip_forward";

std::string tableOf(const WayOutOptions& options) {
  return "mangrove_" + options.bridge;
}

}  // namespace

std::vector<Words> openCommands(const std::string& tool, const WayOutOptions& o) {
  if (tool == "nft") {
    const std::string table = tableOf(o);
    return {{"add", "table", "ip", table},
            {"flush", "table", "ip", table},
            {"add", "chain", "ip", table, "out",
             "{ type nat hook postrouting priority 100 ; policy accept ; }"},
            {"add", "rule", "ip", table, "out", "ip", "saddr", o.subnet, "ip", "daddr",
             "!=", o.subnet, "masquerade"}};
  }
  return {{"-w", "-t", "nat", "-A", "POSTROUTING", "-s", o.subnet, "!", "-d", o.subnet, "-j",
           "MASQUERADE"},
          {"-w", "-I", "FORWARD", "-i", o.bridge, "-j", "ACCEPT"},
          {"-w", "-I", "FORWARD", "-o", o.bridge, "-j", "ACCEPT"}};
}

std::vector<Words> closeCommands(const std::string& tool, const WayOutOptions& o) {
  if (tool == "nft") return {{"delete", "table", "ip", tableOf(o)}};
  return {{"-w", "-t", "nat", "-D", "POSTROUTING", "-s", o.subnet, "!", "-d", o.subnet, "-j",
           "MASQUERADE"},
          {"-w", "-D", "FORWARD", "-i", o.bridge, "-j", "ACCEPT"},
          {"-w", "-D", "FORWARD", "-o", o.bridge, "-j", "ACCEPT"}};
}

Result<> runProgram(const std::string& path, const Words& words) {
  if (::access(path.c_str(), X_OK) != 0) return failErrno(errno, path);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return failErrno(errno, "pipe");
  UniqueFd from(ends[0]), to(ends[1]);
  std::vector<char*> argv{const_cast<char*>(path.c_str())};
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int fd : {1, 2}) posix_spawn_file_actions_adddup2(&actions, to.get(), fd);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, path.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return failErrno(error, path);
  to.reset();
  std::string said;
  char buffer[1024];
  for (ssize_t n; (n = ::read(from.get(), buffer, sizeof buffer)) > 0;)
    if (said.size() < 4096) said.append(buffer, static_cast<size_t>(n));
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(Code::kUnavailable, "{} {}: {}", path, join(words, " "), trim(said));
}

Result<> WayOut::open() {
  for (const char* tool : {"nft", "iptables"}) {
    path_ = findProgram(tool);
    tool_ = tool;
    if (!path_.empty()) break;
  }
  if (path_.empty())
    return fail(Code::kNotFound,
                "neither nft nor iptables is installed; one of them masquerades the pods' {}",
                options_.subnet);
  char state[8] = {};
  auto read = root_.read(kForward, state);
  forwardingWasOff_ = read && *read && state[0] == '0';
  if (forwardingWasOff_)
    if (auto ok = root_.write(kForward, "1"); !ok) return ok.error().in("forwarding");
  close();  // what an earlier run left
  for (const auto& words : openCommands(tool_, options_)) {
    auto ok = runProgram(path_, words);
    if (ok) continue;
    close();
    return ok;
  }
  return {};
}

void WayOut::close() {
  if (path_.empty()) return;
  for (const auto& words : closeCommands(tool_, options_)) (void)runProgram(path_, words);
}

}  // namespace mangrove::runtime
