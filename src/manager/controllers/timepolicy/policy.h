#pragma once
// ColocationTimePolicy (colocation.mangrove.io/v1alpha1): when colocation is on, per node pool.
// Cluster-scoped; an administrator writes it.
//
//   spec:
//     nodeSelector: {matchLabels: {pool: online}}
//     cpu: {safePercent: 70, bufferCores: 0}
//     memory: {safePercent: 80}
//     windows:
//       - {name: night, start: "01:00", end: "08:00", timezone: Asia/Shanghai, mode: Full,
//          gracePeriod: 30m}
//     default: {mode: Ratio, ratio: 0.3}

#include <optional>
#include <string>
#include <vector>

#include "api/annotations/draining.h"
#include "api/object/meta.h"
#include "api/select/label_selector.h"
#include "api/wire/kind.h"
#include "base/text/time_zone.h"
#include "manager/controllers/noderesource/cpu_memory.h"

namespace mangrove::manager {

inline constexpr api::Kind kTimePolicyKind{
    "colocation.mangrove.io", "v1alpha1", "ColocationTimePolicy",
    "colocationtimepolicies", false,      false};
using api::kDrainingTaint;

struct TimeMode {
  std::string mode = "Full";  // Off, Ratio, Full
  std::optional<double> ratio;
};
struct TimeWindow : TimeMode {
  std::string name;
  std::vector<std::string> days;  // Mon … Sun; none: every day. The day on which the window starts
  std::string start, end;         // "01:00"; an end at or before the start is on the next day
  std::string timezone;
  Duration gracePeriod{};
};
struct TimePolicySpec {
  struct Cpu {
    Percent safePercent{70};
    double bufferCores = 0;
  };
  struct Memory {
    Percent safePercent{80};
  };
  std::optional<api::LabelSelector> nodeSelector;
  Cpu cpu;
  Memory memory;
  std::vector<TimeWindow> windows;
  TimeMode defaultMode;
  bool drainTaint = true;
};
struct TimePolicy {
  api::ObjectMeta meta;
  TimePolicySpec spec;
};
bool read(const api::In& in, TimePolicy& out);

// A policy that can be asked: times parsed, zones loaded.
struct CompiledWindow {
  std::string name;
  double factor = 1;    // 0 off, ratio, 1 full
  uint8_t days = 0x7f;  // bit 0: Monday
  std::chrono::minutes start{}, length{};
  TimeZone zone;
  Duration grace{};
};
struct CompiledPolicy {
  std::string name;
  api::Selector nodes;
  TimePolicySpec::Cpu cpu;
  TimePolicySpec::Memory memory;
  std::vector<CompiledWindow> windows;
  double defaultFactor = 1;
  bool drainTaint = true;
};
Result<CompiledPolicy> compilePolicy(const TimePolicy& policy);

struct WindowVerdict {
  std::string window;  // the strictest one that is open; "" is the default
  double factor = 1;
  bool draining = false;             // a stricter time begins within the grace
  WallTime changesAt{};              // nothing changes before
  std::optional<WallTime> closesAt;  // when the next change is to a stricter time
  Duration grace{};                  // before closesAt
  std::optional<WallTime> closedAt;  // a stricter time began then, at most kStillClosing ago
};
// Who leads since a moment after a stricter time began still clears the nodes.
inline constexpr Duration kStillClosing = std::chrono::minutes(10);
// Of overlapping windows the strictest holds.
WindowVerdict judgeTime(const CompiledPolicy& policy, WallTime now);

// dynamic = max(0, capacity × safePercent − buffer − online); times the factor; while draining at
// most what is allocated already.
CpuMemory timeReport(const CompiledPolicy& policy, const WindowVerdict& verdict,
                     const CpuMemory& capacity, const CpuMemory& online,
                     const CpuMemory& allocated);
// The same where services may not have been measured (`online` absent): an hour that is off allows
// nothing all the same; of any other nothing is known.
std::optional<CpuMemory> allowedBy(const CompiledPolicy& policy, const WindowVerdict& verdict,
                                   const CpuMemory& capacity,
                                   const std::optional<CpuMemory>& online,
                                   const CpuMemory& allocated);

}  // namespace mangrove::manager
