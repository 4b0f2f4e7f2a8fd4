#pragma once
// Who must go so that a resource is freed: one task per feature, its candidates in order, and the
// walk that takes them until enough is released. Pure functions, any thread.
//
//   EvictTask task = memoryEvictTask(Feature::kMemory, in);
//   std::vector<const EvictPod*> victims = pickVictims(task);
//
// EvictAmounts are in the resource's own unit: bytes of memory, milli-cores of "cpu", and what
// requests of batch and mid resources are written in (milli-cores without the m, bytes).

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/koordinator/slo_strategy.h"
#include "api/object/node.h"
#include "api/pod/pod.h"
#include "base/number/units.h"

namespace mangrove::agent {

namespace feature {
inline constexpr std::string_view kBeCpu = "BECPUEvict";
inline constexpr std::string_view kCpu = "CPUEvict";
inline constexpr std::string_view kCpuAllocatable = "CPUAllocatableEvict";
inline constexpr std::string_view kBeMemory = "BEMemoryEvict";
inline constexpr std::string_view kMemory = "MemoryEvict";
inline constexpr std::string_view kMemoryAllocatable = "MemoryAllocatableEvict";
}  // namespace feature

struct EvictPod {
  const api::Pod* pod = nullptr;
  std::optional<double> usedCores;
  std::optional<Bytes> memory;
  bool leaving = false;  // evicted earlier and still here: counts, is not evicted again
};

using EvictAmounts = std::map<std::string, int64_t, std::less<>>;

struct EvictTask {
  // What counts as released: what a pod uses, or what it asked for.
  enum class Target : uint8_t { kUsed, kRequested };
  std::string_view feature;
  bool valid = false;    // the configuration makes sense
  EvictAmounts release;  // empty: nothing to do
  std::vector<const EvictPod*> order;
  std::function<EvictAmounts(const EvictPod&)> frees;
  Target target = Target::kUsed;
  std::span<const EvictPod> pods = {};  // all: those among them that leave already count first
};

// In order, until everything is released. Pods that free nothing still short are not touched.
std::vector<const EvictPod*> pickVictims(const EvictTask& task);

struct Victim {
  const EvictPod* pod = nullptr;
  const EvictTask* task = nullptr;  // for which it was taken
  std::string loss = {};            // what it loses; "": nobody weighed it
};
// All tasks in their order. What a victim of one releases counts for the others as well, so that
// nobody goes for what another one's leaving brings.
std::vector<Victim> pickVictims(std::span<const EvictTask> tasks);

// ---- candidates ------------------------------------------------------------------------------

// Active, permitted, at or below the priority, willing, measured; ordered by eviction priority,
// priority, sub-priority, and the largest first.
std::vector<const EvictPod*> byPriority(std::span<const EvictPod> pods, std::string_view feature,
                                        int32_t priorityThreshold,
                                        const std::function<double(const EvictPod&)>& size);
bool isActivePhase(const api::Pod& pod);

// What a pod asks of the batch or mid resource of its band (cpu or memory); empty for other bands.
EvictAmounts soldRequests(const api::Pod& pod, std::string_view resource);
// The same with the native amount for pods of other bands: their size.
double requestSize(const api::Pod& pod, std::string_view resource);

// ---- tasks -----------------------------------------------------------------------------------

struct EvictInputs {
  const api::ResourceThresholdStrategy& slo;
  const api::Node& node;
  std::span<const EvictPod> pods;
  Bytes memoryUsed;       // of the node
  double cpuUsedAvg = 0;  // of the node over the window, cores
};
EvictTask beMemoryTask(const EvictInputs& in);
EvictTask memoryTask(const EvictInputs& in);
EvictTask cpuTask(const EvictInputs& in);
// `resource` "cpu" or "memory".
EvictTask allocatableTask(const EvictInputs& in, std::string_view resource);

struct BeSample {
  MilliCpu usage, request, limit;
};
struct BeHistory {
  int64_t count = 0;  // samples in the window
  BeSample avg, last;
};
// `interval`: between two samples. nullopt history: no samples.
EvictTask beCpuTask(const EvictInputs& in, const std::optional<BeHistory>& history,
                    Duration interval);
// The window over which averages are taken.
Duration evictWindow(const api::ResourceThresholdStrategy& slo, Duration interval);

}  // namespace mangrove::agent
