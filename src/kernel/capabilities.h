#pragma once
// What this kernel and this machine offer, found out once. Everybody else asks here instead of
// trying and failing; `mangrove check node` prints it and metrics show it.
//
//   Capabilities can = probeCapabilities(root, mounts, trees, layout, probeLive());
//   if (can.has(Feature::kCpuIdle)) …
//   for (const Finding& f : can.findings()) print(f.name, f.present, f.detail);
//
// A value; const access from any thread. A file that appears later is not noticed: probe again.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kernel/hierarchies.h"
#include "kernel/sys_root.h"

namespace mangrove::kernel {

enum class Feature : uint8_t {
  kCgroupV2,
  kUnifiedBesideV1,
  kPodsCgroup,
  kCpuController,
  kMemoryController,
  kCpusetController,
  kIoController,
  kCpuIdle,
  kCfsBurst,
  kGroupIdentity,
  kNodePressure,
  kCgroupPressure,
  kShortPressureWindow,
  kMemoryReclaim,
  kMemoryMin,
  kMemoryHigh,
  kMemoryWatermark,
  kMemoryPriority,
  kOomGroup,
  kPageCacheLimit,
  kColdPages,
  kCgroupKill,
  kCgroupFreeze,
  kBlkioThrottle,
  kIoCost,
  kIoLatency,
  kNetClass,
  kResctrl,
  kResctrlMonitor,
  kCacheAllocation,
  kBandwidthAllocation,
  kPerfCounters,
  kCoreScheduling,
  kRunQueueDelay,
  kSmt,
  kNuma,
  kSwap,
};
inline constexpr size_t kFeatures = static_cast<size_t>(Feature::kSwap) + 1;

struct Finding {
  Feature feature{};
  std::string_view name;   // "cpu-idle": stable, for metrics
  std::string_view title;  // for people
  std::string_view usedFor;
  bool present = false;
  std::string detail;  // where it was found, or why not
};

// What only a running kernel can say. A captured machine has none of it.
struct LiveFacts {
  bool perf = false;
  std::string perfDetail = "not a running machine";
  bool coreScheduling = false;
  std::string coreDetail = "not a running machine";
  bool shortPressure = false;
  std::string pressureDetail = "not a running machine";
};
LiveFacts probeLive();

class Capabilities {
 public:
  bool has(Feature feature) const { return findings_[static_cast<size_t>(feature)].present; }
  const Finding& finding(Feature feature) const { return findings_[static_cast<size_t>(feature)]; }
  std::span<const Finding> findings() const { return findings_; }  // in the order of Feature
  const std::string& kernelRelease() const { return release_; }
  // A kernel of the Anolis family, with its extra memory and scheduling files.
  bool isAnolis() const { return anolis_; }

 private:
  friend class CapabilityProbe;
  std::array<Finding, kFeatures> findings_;
  std::string release_;
  bool anolis_ = false;
};

Capabilities probeCapabilities(const SysRoot& root, const Mounts& mounts, const Hierarchies& trees,
                               const CgroupLayout& layout, const LiveFacts& live);

}  // namespace mangrove::kernel
