#include "demo/meter.h"

#include <algorithm>
#include <ctime>

#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text/strings.h"
#include "kernel/control_files.h"
#include "kernel/proc_stat.h"
#include "kernel/read_text.h"
#include "kernel/resource_names.h"

namespace mangrove::demo {
namespace {

double secondsOf(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
}

double usageOf(int who) {
  rusage used{};
  ::getrusage(who, &used);
  return secondsOf(used.ru_utime) + secondsOf(used.ru_stime);
}

double cpuSecondsOf(pid_t pid) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

}  // namespace

uint64_t stealTicks(std::string_view procStat) {
  const std::string_view line = procStat.substr(0, procStat.find('\n'));
  std::vector<std::string_view> words;
  for (std::string_view word : split(line, ' '))
    if (!word.empty()) words.push_back(word);
  return words.size() > 8 ? parseInt<uint64_t>(words[8]).value_or(0) : 0;
}

Shares sharesBetween(const Reading& before, const Reading& after) {
  Shares out;
  out.seconds = std::chrono::duration<double>(after.at - before.at).count();
  if (out.seconds <= 0) return out;
  out.busy = (after.busy - before.busy) / out.seconds;
  out.steal = (after.steal - before.steal) / out.seconds;
  out.pods = (after.pods - before.pods) / out.seconds;
  out.own = (after.own - before.own) / out.seconds;
  out.strangers = std::max(0.0, out.busy - out.pods - out.own);
  return out;
}

Result<Meter> Meter::make(const std::string& cgroup) {
  kernel::Mounts mounts;
  mounts.cgroupParent = cgroup;
  auto trees = kernel::Hierarchies::detect(kernel::SysRoot(), mounts);
  if (!trees) return pass(trees.error());
  return Meter(*trees);
}

Reading Meter::read(const std::vector<pid_t>& others) const {
  Reading out;
  out.at = realClock().mono();
  const auto tick = static_cast<double>(::sysconf(_SC_CLK_TCK));
  if (auto text = kernel::readText(root_, "proc/stat"); text && *text) {
    out.steal = static_cast<double>(stealTicks(**text)) / tick;
    if (auto ticks = kernel::nodeTicks(**text)) out.busy = static_cast<double>(ticks->busy) / tick;
  }
  const auto file =
      kernel::filePath(trees_, *kernel::findResource(kernel::resource_name::kCpuUsage), "")
          .value_or("");
  if (auto text = kernel::readText(root_, file); text && *text)
    if (auto used = kernel::parseCpuUsage(**text, trees_.version()))
      out.pods = std::chrono::duration<double>(*used).count();
  out.own = usageOf(RUSAGE_SELF) + usageOf(RUSAGE_CHILDREN);
  for (pid_t pid : others) out.own += cpuSecondsOf(pid);
  return out;
}

}  // namespace mangrove::demo
