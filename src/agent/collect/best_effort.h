#pragma once
// What best-effort pods use together, ask for, and may use at most.
//
//   BestEffortMeter meter(machine);
//   look.node.bestEffort = meter.sample(reader, clock, mirror, book, troubles);
//
// One owner, no locks.

#include <optional>

#include "agent/collect/cgroup_mirror.h"
#include "agent/look.h"

namespace mangrove::agent {

class BestEffortMeter {
 public:
  // Containers' cpusets are looked at this often, the group's own each time.
  static constexpr Duration kContainerCpusets = std::chrono::seconds(10);

  explicit BestEffortMeter(const Machine& machine);
  BestEffortLook sample(Reader& reader, const Clock& clock, const CgroupMirror& mirror,
                        const PodBook& book, MeterTroubles& troubles);

 private:
  std::optional<MilliCpu> usage(Reader& reader, const Clock& clock, MeterTroubles& troubles);
  std::optional<MilliCpu> limit(Reader& reader, MonoTime now, const CgroupMirror& mirror);
  std::optional<size_t> cpusetSize(Reader& reader, HotFile& file);
  void readContainerCpusets(Reader& reader, const CgroupMirror& mirror);
  std::optional<std::pair<kernel::CpuQuota, int64_t>> quota(Reader& reader);

  const Machine* machine_;
  std::string cgroup_;
  HotFile cpu_, cpuset_, quota_, period_;
  std::optional<std::pair<Duration, MonoTime>> before_;
  CpuRate guard_;  // says whether a reading can be believed
  std::optional<size_t> smallestContainer_;
  MonoTime containersAt_ = MonoTime::min();
  uint64_t requestVersion_ = ~uint64_t{0};
  MilliCpu request_;
};

}  // namespace mangrove::agent
