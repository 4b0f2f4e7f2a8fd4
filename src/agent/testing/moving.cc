#include "agent/testing/moving.h"

#include <fmt/core.h>

#include "base/check.h"
#include "base/os/files.h"
#include "base/text/strings.h"

namespace mangrove::agent::testing {
namespace {

namespace fs = std::filesystem;

bool isV2(const fs::path& file) {
  auto text = readFile(file);
  return text && text->starts_with("usage_usec");
}

}  // namespace

Moving::Moving(const fs::path& machine) {
  fs::copy(machine, root_.path(), fs::copy_options::recursive);
  for (const auto& entry : fs::recursive_directory_iterator(root_.path())) {
    const std::string file = entry.path().filename();
    if (file == "cpuacct.usage" || (file == "cpu.stat" && isV2(entry.path())))
      counters_.push_back(entry.path());
  }
  auto stat = readFile(root_.path() / "proc/stat");
  CHECK(stat, "machine {} has no proc/stat", machine.string());
  stat_ = *stat;
}

void Moving::second() {
  ++seconds_;
  for (const fs::path& path : counters_) {
    if (!fs::exists(path)) continue;
    const bool ns = path.filename() == "cpuacct.usage";
    write(path,
          ns ? fmt::format("{}\n", 5000000000 + seconds_ * 500000000)
             : fmt::format("usage_usec {}\nnr_periods {}\nnr_throttled {}\nthrottled_usec 5\n",
                           5000000 + seconds_ * 500000, 100 + seconds_ * 10, 10 + seconds_));
  }
  write(root_.path() / "proc/stat", ticks());
  write(root_.path() / "proc/diskstats",
        fmt::format("   7 0 loop0 5 0 40 1 0 0 0 0 0 1 1\n"
                    " 259 0 nvme0n1 {} 0 {} 100 500 0 40000 50 0 {} 200\n"
                    " 259 1 nvme0n1p1 900 0 70000 90 400 0 30000 40 0 140 190\n",
                    1000 + seconds_ * 10, 80000 + seconds_ * 2048, 150 + seconds_ * 250));
  write(root_.path() / "proc/1/net/dev",
        fmt::format("Inter-| Receive | Transmit\n face |bytes packets|bytes packets\n"
                    "    lo: 1000 10 0 0 0 0 0 0 1000 10 0 0 0 0 0 0\n"
                    "  eth0: {} 400 0 0 0 0 0 0 300000 350 0 0 0 0 0 0\n",
                    500000 + seconds_ * 1000));
}

void Moving::unplug(int cpu) {
  const size_t at = stat_.find(fmt::format("\ncpu{} ", cpu));
  CHECK(at != std::string::npos, "there is no CPU {}", cpu);
  stat_.erase(at, stat_.find('\n', at + 1) - at);
}

void Moving::write(const fs::path& path, const std::string& text) {
  root_.write(path.lexically_relative(root_.path()), text);
}

// 25 ticks a second more on every CPU.
std::string Moving::ticks() const {
  std::string out;
  int64_t cpus = 0;
  for (std::string_view line : split(stat_, '\n'))
    if (line.starts_with("cpu") && !line.starts_with("cpu ")) ++cpus;
  for (std::string_view line : split(stat_, '\n')) {
    if (!line.starts_with("cpu")) continue;
    const bool all = line.starts_with("cpu ");
    const std::string_view name = line.substr(0, line.find(' '));
    out += fmt::format("{} {} 0 0 99 0 0 0 0 0 0\n", name, (all ? cpus : 1) * seconds_ * 25);
  }
  return out;
}

}  // namespace mangrove::agent::testing
