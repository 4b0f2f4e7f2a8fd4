#include "agent/executor/kill.h"

#include <csignal>
#include <vector>

#include <unistd.h>

#include "base/text/strings.h"
#include "kernel/control_files.h"
#include "kernel/read_text.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

namespace name = kernel::resource_name;

std::vector<int> processesOf(const Machine& machine, const std::string& dir) {
  std::vector<int> out;
  auto text = kernel::readText(machine.root(), kernel::joinPath({dir, name::kProcs}));
  if (text && *text)
    for (std::string_view line : split(**text, '\n'))
      if (const auto pid = parseInt<int>(trim(line)); pid && *pid > 1 && *pid != ::getpid())
        out.push_back(*pid);
  auto entries = machine.root().list(dir);
  if (entries)
    for (const kernel::Entry& entry : *entries)
      if (entry.isDir)
        for (int pid : processesOf(machine, kernel::joinPath({dir, entry.name})))
          out.push_back(pid);
  return out;
}

}  // namespace

std::vector<int> processesBelow(const Machine& machine, std::string_view cgroup) {
  return processesOf(machine, machine.trees().path(kernel::Controller::kCpu, cgroup));
}

Result<> killCgroup(const Machine& machine, std::string_view cgroup) {
  const std::string unified = machine.trees().pressurePath(cgroup);
  if (machine.root().write(kernel::joinPath({unified, name::kCgroupKill}), "1")) return {};
  const std::string dir = machine.trees().path(kernel::Controller::kCpu, cgroup);
  // Who is forked meanwhile is met in the next round.
  constexpr int kRounds = 5;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<int> pids = processesOf(machine, dir);
    if (pids.empty()) return {};
    for (int pid : pids) ::kill(pid, SIGKILL);
  }
  return {};
}

}  // namespace mangrove::agent
