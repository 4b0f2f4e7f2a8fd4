#include "agent/self_usage.h"

#include <string>

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text/strings.h"
#include "kernel/read_text.h"
#include "kernel/scan.h"

namespace mangrove::agent {
namespace {

Bytes rowOf(std::string_view text, std::string_view key) {
  for (kernel::Lines lines(text); lines.next();) {
    kernel::Words words(lines.line);
    if (!words.next() || words.word != key) continue;
    return kKiB * words.number<int64_t>().value_or(0);
  }
  return {};
}

Bytes fieldOf(const std::string& process, const char* file, std::string_view key) {
  const kernel::SysRoot root;
  auto text = kernel::readText(root, "proc/" + process + "/" + file);
  return text && *text ? rowOf(**text, key) : Bytes{};
}

Duration timeOf(const timeval& t) {
  return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
}

}  // namespace

SelfUsage readSelfUsage(bool withPss) {
  SelfUsage self;
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0)
    self.cpu = timeOf(usage.ru_utime) + timeOf(usage.ru_stime);
  self.rss = fieldOf("self", "status", "VmRSS:");
  if (withPss) self.pss = fieldOf("self", "smaps_rollup", "Pss:");
  return self;
}

SelfUsage readUsageOf(int pid) {
  const kernel::SysRoot root;
  const std::string process = std::to_string(pid);
  SelfUsage out;
  out.rss = fieldOf(process, "status", "VmRSS:");
  out.pss = fieldOf(process, "smaps_rollup", "Pss:");
  auto stat = kernel::readText(root, "proc/" + process + "/stat");
  if (!stat || !*stat) return out;
  // Fields after the name, which may hold anything and ends at the last ")".
  const size_t end = (*stat)->rfind(')');
  if (end == std::string::npos) return out;
  kernel::Words words(std::string_view(**stat).substr(end + 1));
  int64_t ticks = 0;
  for (int field = 3; words.next() && field <= 17; ++field)
    if (field >= 14) ticks += parseInt<int64_t>(words.word).value_or(0);
  out.cpu = std::chrono::nanoseconds(1000000000 / ::sysconf(_SC_CLK_TCK) * ticks);
  return out;
}

Bytes residentMemoryOf(int pid) {
  return fieldOf(std::to_string(pid), "status", "VmRSS:");
}

int64_t descriptorsOf(int pid) {
  auto entries = kernel::SysRoot().list(fmt::format("proc/{}/fd", pid));
  return entries ? static_cast<int64_t>(entries->size()) : 0;
}

std::vector<int> childrenOf(int pid) {
  const kernel::SysRoot root;
  std::vector<int> children;
  const std::string tasks = fmt::format("proc/{}/task", pid);
  auto entries = root.list(tasks);
  if (!entries) return children;
  for (const kernel::Entry& task : *entries) {
    auto text = kernel::readText(root, fmt::format("{}/{}/children", tasks, task.name));
    if (!text || !*text) continue;
    for (kernel::Words words(**text); words.next();)
      if (auto child = parseInt<int>(words.word)) children.push_back(*child);
  }
  return children;
}

}  // namespace mangrove::agent
