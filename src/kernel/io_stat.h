#pragma once
// /proc/diskstats and /proc/net/dev: totals per device since boot.
//
//   eachDisk(text, [&](const DiskTotals& d) { … });
//   eachInterface(text, [&](const NetTotals& n) { … });
//
// Pure, no allocation unless they fail. Names are views into the text.

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "kernel/scan.h"

namespace mangrove::kernel {

struct DiskTotals {
  int major = 0, minor = 0;
  std::string_view name;
  uint64_t reads = 0, readSectors = 0, writes = 0, writeSectors = 0;  // sectors of 512 bytes
  uint64_t inFlight = 0, busyMs = 0;
};
Result<DiskTotals> parseDiskLine(std::string_view line);

struct NetTotals {
  std::string_view name;
  uint64_t rxBytes = 0, rxPackets = 0, rxDropped = 0;
  uint64_t txBytes = 0, txPackets = 0, txDropped = 0;
};
Result<NetTotals> parseNetLine(std::string_view line);

template <class F>
Result<> eachDisk(std::string_view text, F&& each) {
  for (Lines lines(text); lines.next();) {
    if (trim(lines.line).empty()) continue;
    auto disk = parseDiskLine(lines.line);
    if (!disk) return pass(disk.error());
    each(*disk);
  }
  return {};
}

// The first two lines are headings.
template <class F>
Result<> eachInterface(std::string_view text, F&& each) {
  int heading = 0;
  for (Lines lines(text); lines.next();) {
    if (heading++ < 2 || trim(lines.line).empty()) continue;
    auto net = parseNetLine(lines.line);
    if (!net) return pass(net.error());
    each(*net);
  }
  return {};
}

}  // namespace mangrove::kernel
