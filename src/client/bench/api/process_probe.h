#pragma once
// What processes have used so far: CPU time and memory, and what the whole machine did meanwhile.
// One thread at a time.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/sys_root.h"

namespace mangrove::client {

struct CpuReading {
  double serverSeconds = 0;   // of the probed processes
  double clientSeconds = 0;   // of this one
  double machineSeconds = 0;  // of everybody, idle time left out
  double machineTotal = 0;    // with idle time: CPUs × elapsed
};

struct MemoryReading {
  int64_t rssBytes = 0, pssBytes = 0;
};

class ProcessProbe {
 public:
  ProcessProbe(const kernel::SysRoot& root, std::vector<int64_t> pids)
      : root_(root), pids_(std::move(pids)) {}

  bool knowsServer() const { return !pids_.empty(); }
  CpuReading cpu() const;
  MemoryReading memory() const;
  std::string loadAverages() const;  // "0.10 0.20 0.30"

 private:
  std::string read(const std::string& path) const;
  const kernel::SysRoot& root_;
  std::vector<int64_t> pids_;
};

// From the process's own clock, which is exact: /proc/PID/stat counts hundredths of a second. 0
// when there is no such process.
double processorSecondsOf(int64_t pid);

// Pure: the text of the kernel to a number; 0 when the text is not what it should be.
int64_t kilobytesOf(std::string_view text, std::string_view key);  // "Rss:  12 kB"

}  // namespace mangrove::client
