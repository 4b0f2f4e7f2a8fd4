#pragma once
// Traffic of the node's disks and network interfaces: rates from the totals of /proc/diskstats and
// /proc/net/dev.
//
//   IoMeter meter(machine);
//   meter.sample(reader, clock, look.node.io, troubles);       // every few seconds
//
// A total that shrank (a device was replaced) gives no rate once; a text that is not what the
// kernel writes gives none at all. One owner, no locks.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/collect/cgroup_meter.h"
#include "agent/collect/reader.h"
#include "agent/machine.h"
#include "base/clock.h"

namespace mangrove::agent {

// Per second, since the sample before.
struct DiskRates {
  std::string name;
  double readBytes = 0, writeBytes = 0;
  double reads = 0, writes = 0;
  double busy = 0;  // share of the time in which something was under way, 0 to 1
  bool operator==(const DiskRates&) const = default;
};
struct NetRates {
  std::string name;
  double receivedBytes = 0, sentBytes = 0;
  double receivedPackets = 0, sentPackets = 0;
  double dropped = 0;  // packets, both directions
  bool operator==(const NetRates&) const = default;
};
struct IoLook {
  std::vector<DiskRates> disks;  // whole disks, not their partitions
  std::vector<NetRates> interfaces;
};

// A disk of its own rather than a part of one or a piece of memory.
bool isWholeDisk(std::string_view name);

class IoMeter {
 public:
  explicit IoMeter(const Machine& machine);
  void sample(Reader& reader, const Clock& clock, IoLook& out, MeterTroubles& troubles);

 private:
  // Totals of one device as read last, in the order of its rates.
  struct Totals {
    std::vector<uint64_t> values;
    MonoTime at{};
  };
  using Known = std::map<std::string, Totals, std::less<>>;
  // How much each total grew per second; empty when that cannot be said.
  static std::vector<double> grown(Known& known, std::string_view name, Totals now);
  void sampleDisks(Reader& reader, MonoTime at, IoLook& out, MeterTroubles& troubles);
  void sampleInterfaces(Reader& reader, MonoTime at, IoLook& out, MeterTroubles& troubles);
  static void forgetOlder(Known& known, MonoTime at);

  HotFile diskstats_, netdev_;
  Known disks_, interfaces_;
};

}  // namespace mangrove::agent
