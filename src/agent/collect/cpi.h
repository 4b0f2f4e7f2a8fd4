#pragma once
// Cycles and instructions per container: for a window of seconds in every interval the counters of
// all containers are open, both of a container in one group, so their quotient is exact. Closed in
// between, because two descriptors per container and CPU are many.
//
//   CpiMeter meter(machine, {60s, 10s});
//   meter.tick(now, mirror);                      // opens, or reads and closes
//   meter.find("abc")                             // counts of container abc in the last window
//
// Switches itself off where the machine has no counters. One owner, no locks.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "agent/collect/cgroup_mirror.h"
#include "kernel/perf_group.h"

namespace mangrove::agent {

class CpiMeter {
 public:
  CpiMeter(const Machine& machine, Duration interval, Duration window)
      : machine_(machine), interval_(interval), window_(window) {}

  void tick(MonoTime now, const CgroupMirror& mirror);
  std::optional<kernel::PerfCounts> find(std::string_view container) const;
  uint64_t failures() const { return failures_; }
  // How many groups may be open at once; beyond, containers wait for the next window.
  static constexpr size_t kMostDescriptors = 8192;

 private:
  void open(const CgroupMirror& mirror);
  void readAndClose();

  const Machine& machine_;
  Duration interval_, window_;
  std::map<std::string, kernel::PerfGroup, std::less<>> open_;
  std::map<std::string, kernel::PerfCounts, std::less<>> counts_;
  MonoTime openedAt_{};
  MonoTime next_ = MonoTime::min();
  std::string resumeAfter_;  // the last container of a window that was full
  uint64_t failures_ = 0;
};

}  // namespace mangrove::agent
