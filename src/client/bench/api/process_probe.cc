#include "client/bench/api/process_probe.h"

#include <algorithm>
#include <array>
#include <ctime>

#include <fmt/format.h>
#include <unistd.h>

#include "base/text/strings.h"

namespace mangrove::client {

namespace {

double ticksPerSecond() {
  static const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  return ticks;
}

double number(const std::vector<std::string_view>& words, size_t index) {
  if (index >= words.size()) return 0;
  return static_cast<double>(parseInt<int64_t>(words[index]).value_or(0));
}

// user nice system idle iowait irq softirq steal; guest time is inside user.
void addMachine(std::string_view stat, CpuReading& to) {
  std::vector<std::string_view> words = splitTrimmed(stat.substr(0, stat.find('\n')), ' ');
  std::erase(words, std::string_view());
  if (words.empty() || words[0] != "cpu") return;
  for (size_t i = 1; i <= 8; ++i) {
    const double seconds = number(words, i) / ticksPerSecond();
    to.machineTotal += seconds;
    if (i != 4 && i != 5) to.machineSeconds += seconds;
  }
}

}  // namespace

double processorSecondsOf(int64_t pid) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(static_cast<pid_t>(pid), &clock) != 0) return 0;
  if (::clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

int64_t kilobytesOf(std::string_view text, std::string_view key) {
  for (std::string_view line : split(text, '\n')) {
    if (!line.starts_with(key)) continue;
    const auto words = splitTrimmed(line.substr(key.size()), ' ');
    for (std::string_view word : words)
      if (auto value = parseInt<int64_t>(word)) return *value;
  }
  return 0;
}

std::string ProcessProbe::read(const std::string& path) const {
  std::array<char, 16384> buffer;
  auto got = root_.read(path, buffer);
  return got && *got ? std::string(buffer.data(), **got) : "";
}

CpuReading ProcessProbe::cpu() const {
  CpuReading reading;
  for (int64_t pid : pids_) reading.serverSeconds += processorSecondsOf(pid);
  reading.clientSeconds = processorSecondsOf(::getpid());
  addMachine(read("proc/stat"), reading);
  return reading;
}

MemoryReading ProcessProbe::memory() const {
  MemoryReading reading;
  for (int64_t pid : pids_) {
    const std::string text = read(fmt::format("proc/{}/smaps_rollup", pid));
    reading.rssBytes += kilobytesOf(text, "Rss:") * 1024;
    reading.pssBytes += kilobytesOf(text, "Pss:") * 1024;
  }
  return reading;
}

std::string ProcessProbe::loadAverages() const {
  const std::string text = read("proc/loadavg");
  const auto words = split(text, ' ');
  return words.size() < 3 ? "" : fmt::format("{} {} {}", words[0], words[1], words[2]);
}

}  // namespace mangrove::client
