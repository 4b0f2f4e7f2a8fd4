#include "agent/executor/send_signal.h"

#include <csignal>
#include <set>

#include <unistd.h>

#include "base/text/strings.h"
#include "kernel/control_files.h"
#include "kernel/read_text.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

std::set<int> membersOf(const Machine& machine, std::string_view cgroup) {
  std::set<int> out;
  const std::string dir = machine.trees().path(kernel::Controller::kCpu, cgroup);
  const auto text =
      kernel::readText(machine.root(), kernel::joinPath({dir, kernel::resource_name::kProcs}));
  if (!text || !*text) return out;
  for (const std::string_view line : split(**text, '\n'))
    if (const auto pid = parseInt<int>(trim(line)); pid && *pid > 1 && *pid != ::getpid())
      out.insert(*pid);
  return out;
}

std::optional<int> parentOf(const Machine& machine, int pid) {
  const auto text =
      kernel::readText(machine.root(), machine.mounts().procFile(std::to_string(pid) + "/stat"));
  return text && *text ? parentIn(**text) : std::nullopt;
}

}  // namespace

std::optional<int> parentIn(std::string_view procStat) {
  const size_t name = procStat.rfind(')');
  if (name == std::string_view::npos) return std::nullopt;
  const auto words = splitTrimmed(procStat.substr(name + 1), ' ');
  return words.size() < 2 ? std::nullopt : parseInt<int>(words[1]);
}

Result<int> signalMain(const Machine& machine, std::string_view cgroup, int signal) {
  const std::set<int> members = membersOf(machine, cgroup);
  int sent = 0;
  for (const int pid : members) {
    const auto parent = parentOf(machine, pid);
    if (!parent || members.contains(*parent)) continue;
    if (::kill(pid, signal) == 0) ++sent;
  }
  if (sent == 0) return fail(Code::kNotFound, "no process in {}", cgroup);
  return sent;
}

}  // namespace mangrove::agent
