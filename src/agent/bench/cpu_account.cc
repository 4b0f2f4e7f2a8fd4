#include "agent/bench/cpu_account.h"

#include <algorithm>

#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/cgroup_stat.h"
#include "kernel/control_files.h"
#include "kernel/proc_stat.h"
#include "kernel/read_text.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

double ownCpuSeconds() {
  rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return of(own.ru_utime) + of(own.ru_stime);
}

}  // namespace

CpuAccount accountOf(const PodCgroups& pods) {
  const kernel::SysRoot root;
  CpuAccount out;
  out.at = realClock().mono();
  if (auto text = kernel::readText(root, "proc/stat"); text && *text)
    if (auto ticks = kernel::nodeTicks(**text))
      out.machine = static_cast<double>(ticks->busy) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto file =
      kernel::filePath(pods.trees(), *kernel::findResource(kernel::resource_name::kCpuUsage), "");
  if (auto text = kernel::readText(root, file.value_or("")); text && *text)
    if (auto used = kernel::parseCpuUsage(**text, pods.trees().version()))
      out.tree = std::chrono::duration<double>(*used).count();
  out.own = ownCpuSeconds();
  return out;
}

double strangersBetween(const CpuAccount& before, const CpuAccount& after) {
  const double elapsed = std::chrono::duration<double>(after.at - before.at).count();
  const double ours = after.tree - before.tree + after.own - before.own;
  return elapsed > 0 ? std::max(0.0, (after.machine - before.machine - ours) / elapsed) : 0;
}

}  // namespace mangrove::agent
