#pragma once
// Cycles, instructions, misses and stalls per container: for a window of seconds in every interval
// the counters of all containers are open, all of a container in one group, so their quotients are
// exact. Closed in between, because five descriptors per container and CPU are many.
//
//   CpiMeter meter(machine, {60s, 10s});
//   meter.watch({"abc"});                         // counters that stay open
//   meter.tick(now, mirror);                      // opens, or reads and closes
//   meter.find("abc")                             // counts of container abc in the last window
//   meter.lately("abc")                           // … since the tick before, of watched ones
//
// Hardware that has too few counters for all of them at once never runs such a group: then, for
// good, cycles and instructions only.
// Switches itself off where the machine has no counters. One owner, no locks.

#include <map>
#include <optional>
#include <set>
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
  // Containers whose counters stay open, a few: of services on whose behalf somebody is suspected.
  void watch(std::set<std::string, std::less<>> containers) { watched_ = std::move(containers); }
  std::optional<kernel::PerfCounts> lately(std::string_view container) const;
  uint64_t failures() const { return failures_; }
  // How many groups may be open at once; beyond, containers wait for the next window.
  static constexpr size_t kMostDescriptors = 8192;

 private:
  struct Watched {
    kernel::PerfGroup group;
    MonoTime opened{};
    std::optional<kernel::PerfCounts> sum = {}, lately = {};
  };
  void open(const CgroupMirror& mirror);
  void readAndClose(MonoTime now);
  void readWatched(MonoTime now, const CgroupMirror& mirror);
  std::optional<kernel::PerfGroup> openOne(const MirroredContainer& container);

  const Machine& machine_;
  Duration interval_, window_;
  std::map<std::string, kernel::PerfGroup, std::less<>> open_;
  std::map<std::string, kernel::PerfCounts, std::less<>> counts_;
  std::set<std::string, std::less<>> watched_;
  std::map<std::string, Watched, std::less<>> running_;
  kernel::PerfExtras extras_ = kernel::PerfExtras::kAll;
  MonoTime openedAt_{};
  MonoTime next_ = MonoTime::min();
  std::string resumeAfter_;  // the last container of a window that was full
  uint64_t failures_ = 0;
};

}  // namespace mangrove::agent
