#include "agent/collect/yarn_meter.h"

#include <set>

#include <fmt/core.h>

#include "agent/executor/kill.h"
#include "base/text/strings.h"
#include "kernel/read_text.h"

namespace mangrove::agent {
namespace {

// Fields after the name, which may hold anything: state is the first of them.
constexpr size_t kUser = 11, kSystem = 12, kChildrenUser = 13, kChildrenSystem = 14, kStarted = 19,
                 kResident = 21;

double secondsOf(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

std::optional<ProcessSample> parseProcessStat(std::string_view line) {
  const size_t end = line.rfind(')');
  if (end == std::string_view::npos || end + 2 >= line.size()) return std::nullopt;
  const auto fields = split(trim(line.substr(end + 2)), ' ');
  if (fields.size() <= kResident) return std::nullopt;
  const auto number = [&](size_t field) { return parseInt<int64_t>(fields[field]).value_or(0); };
  ProcessSample out;
  out.started = static_cast<uint64_t>(number(kStarted));
  out.ticks = static_cast<uint64_t>(number(kUser) + number(kSystem) + number(kChildrenUser) +
                                    number(kChildrenSystem));
  out.residentPages = number(kResident);
  return out;
}

std::optional<std::string> YarnMeter::text(int pid, std::string_view file) const {
  auto read = kernel::readText(machine_->root(),
                               machine_->mounts().procFile(fmt::format("{}/{}", pid, file)));
  return read && *read ? **read : std::optional<std::string>();
}

// The script that starts a container is named after it; what it starts finds it in the environment.
std::string YarnMeter::containerOf(int pid) const {
  for (const std::string_view file : {"environ", "cmdline"})
    if (const auto said = text(pid, file))
      if (const auto container = api::yarnContainerIn(*said); !container.empty())
        return std::string(container);
  return "";
}

const YarnMeter::Known& YarnMeter::know(int pid, const ProcessSample& process) {
  Known& known = known_[pid];
  // A process of a container is made by a fork of its parent and named with its exec: who has no name
  // yet is asked again.
  if (known.started != process.started || known.container.empty())
    known = {process.started, containerOf(pid)};
  return known;
}

std::vector<api::YarnUse> YarnMeter::sample(std::string_view cgroup, MonoTime now) {
  std::map<std::string, Account> accounts;
  std::set<int> alive;
  for (const int pid : processesBelow(*machine_, cgroup)) {
    const auto line = text(pid, "stat");
    const auto process = line ? parseProcessStat(*line) : std::nullopt;
    if (!process) continue;  // gone meanwhile
    alive.insert(pid);
    const Known& known = know(pid, *process);
    if (known.container.empty()) continue;
    Account& account = accounts[api::yarnApplicationOf(known.container)];
    account.ticks += process->ticks;
    account.memory += machine_->pageSize() * process->residentPages;
    account.containers[known.container]++;
  }
  std::erase_if(known_, [&](const auto& one) { return !alive.contains(one.first); });
  const double seconds = at_ == MonoTime::min() ? 0 : secondsOf(now - at_);
  at_ = now;
  std::vector<api::YarnUse> out;
  std::map<std::string, uint64_t> ticks;
  for (const auto& [application, account] : accounts) {
    const auto before = before_.find(application);
    // Who ends without being waited for takes its time along.
    const uint64_t more = before == before_.end() || before->second > account.ticks
                              ? 0
                              : account.ticks - before->second;
    out.push_back(
        {application,
         seconds > 0 ? static_cast<double>(more) * secondsOf(machine_->jiffy()) / seconds : 0,
         account.memory, static_cast<int64_t>(account.containers.size())});
    ticks[application] = account.ticks;
  }
  before_ = std::move(ticks);
  return out;
}

}  // namespace mangrove::agent
