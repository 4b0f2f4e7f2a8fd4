#include "agent/report/kubelet_process.h"

#include <utility>

#include "base/text/strings.h"
#include "kernel/read_text.h"
#include "kernel/scan.h"

namespace mangrove::agent {
namespace {

constexpr size_t kLongestCommandLine = 64 * 1024;

bool isKubelet(std::string_view cmdline) {
  const std::string_view program = cmdline.substr(0, cmdline.find('\0'));
  return program == "kubelet" || program.ends_with("/kubelet");
}

// Field 22 of stat, counted behind the name, which may hold anything; "" when the process is gone.
std::string startOf(const kernel::SysRoot& root, const std::string& dir) {
  constexpr int kFirstBehindName = 3, kStart = 22;
  auto stat = kernel::readText(root, dir + "/stat");
  if (!stat || !*stat) return "";
  const size_t name = (*stat)->rfind(')');
  if (name == std::string::npos) return "";
  kernel::Words words(std::string_view(**stat).substr(name + 1));
  for (int field = kFirstBehindName; words.next(); ++field)
    if (field == kStart) return std::string(words.word);
  return "";
}

}  // namespace

std::vector<std::string> kubeletDirs(const kernel::SysRoot& root, const kernel::Mounts& mounts) {
  std::vector<std::string> out;
  auto entries = root.list(mounts.proc);
  if (!entries) return out;
  for (const kernel::Entry& entry : *entries) {
    if (!parseInt<int>(entry.name)) continue;
    std::string dir = mounts.procFile(entry.name);
    auto cmdline = kernel::readText(root, dir + "/cmdline", kLongestCommandLine);
    if (cmdline && *cmdline && isKubelet(**cmdline)) out.push_back(std::move(dir));
  }
  return out;
}

bool KubeletProcess::restarted(const kernel::SysRoot& root, const kernel::Mounts& mounts) {
  if (!dir_.empty() && startOf(root, dir_) == started_) return false;
  const auto dirs = kubeletDirs(root, mounts);
  dir_ = dirs.empty() ? "" : dirs.front();
  std::string started = dir_.empty() ? "" : startOf(root, dir_);
  if (started.empty()) return dir_.clear(), false;
  const std::string before = std::exchange(started_, std::move(started));
  return !before.empty() && before != started_;
}

}  // namespace mangrove::agent
