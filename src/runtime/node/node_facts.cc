#include "runtime/node/node_facts.h"

#include <fmt/core.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/shim/pod_users.h"

namespace mangrove::runtime {

namespace {

// In a child, because there is no way back.
bool permits(int flag) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(::unshare(flag) == 0 ? 0 : 1);
  int status = 1;
  if (pid > 0) ::waitpid(pid, &status, 0);
  return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::string Isolation::missing() const {
  std::string out;
  auto add = [&](bool there, const char* name) {
    if (!there) out += (out.empty() ? "" : ", ") + std::string(name);
  };
  add(network, "network");
  add(pids, "PID");
  add(mounts, "mount");
  add(ipc, "IPC");
  return out;
}

Isolation probeIsolation(const std::string& dataDir) {
  Isolation can{permits(CLONE_NEWNET),
                permits(CLONE_NEWPID),
                permits(CLONE_NEWNS),
                permits(CLONE_NEWIPC | CLONE_NEWUTS),
                false,
                false};
  can.mapUsers = can.mounts && can.pids && permitsPodUsers(dataDir);
  if (can.mounts || ::geteuid() == 0) return can;
  can.user = permits(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS);
  if (can.user) can.pids = can.mounts = can.ipc = true;
  return can;
}

std::string NodeFacts::logDir(std::string_view ns, std::string_view name,
                              std::string_view uid) const {
  return fmt::format("{}/logs/{}_{}_{}", dataDir, ns, name, uid);
}

}  // namespace mangrove::runtime
