#pragma once
// One round of Crane's avoidance: by how much a watermark is exceeded, whose CPU time is cut for it
// and by how much, and who leaves for what is left of the gap. Pure functions, any thread.
//
//   Plan plan = planRound(round);
//   for (const Throttle& one : plan.throttles) …
//   for (const Evict& one : plan.evictions) …

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/crane/ensurance.h"
#include "api/pod/classes.h"
#include "base/number/units.h"
#include "victims/candidate.h"

namespace mangrove::agent::crane {

enum class Dimension : uint8_t { kNone, kCpu, kMemory };  // kNone: nobody can say what would help

struct MetricInfo {
  std::string_view name;
  Dimension dimension = Dimension::kNone;
  bool isPercent = false;
};
// nullptr: no such metric here.
const MetricInfo* metricNamed(std::string_view name);
bool isBlockOnly(std::string_view metric);  // ext_cpu_total_distribute

struct Capacity {
  double cores = 0;
  double bytes = 0;
};
inline constexpr double kExcess = 0.10;
// What has to be released, in milli-cores or bytes; a little more than what is too much.
double gapOf(const MetricInfo& metric, double used, double watermark, const Capacity& capacity,
             double excess = kExcess);

struct Container {
  std::string id;
  std::optional<double> quota = {};  // cores; nullopt: none
  double usage = 0, request = 0, limit = 0;
  std::optional<double> elasticLimit = {};
};
struct Cut {
  double cores = 0, released = 0;
};
Cut throttled(const Container& one, const api::CpuThrottleSpec& how);
// nullopt: leave it; kNoQuota: no limit any more.
inline constexpr double kNoQuota = -1;
std::optional<double> restored(const Container& one, const api::CpuThrottleSpec& how);

struct PodFacts {
  std::string uid;
  bool elastic = false;  // holds elastic or batch resources
  int64_t priority = 0;
  api::KubeQos qos = api::KubeQos::kBestEffort;
  double cpu = 0, memory = 0;                // cores, bytes
  double elasticCpu = 0, elasticMemory = 0;  // its elastic limit; 0: none
  Duration running{};
  std::vector<Container> containers = {};
  std::vector<std::string> allowed = {};  // actions
  victims::Candidate stake = {};          // what it loses by an eviction; for Round::leastLoss
};
// Who is handled first; ends at the uid, so that the order is total.
std::vector<const PodFacts*> ordered(std::span<const PodFacts> pods, Dimension dimension);

struct Triggered {
  std::string key, metric, action;
  double watermark = 0;
  std::optional<double> observed = {};
  const api::AvoidanceActionSpec* spec = nullptr;
};

struct Round {
  std::vector<Triggered> triggered, restored;
  std::vector<PodFacts> pods;
  Capacity capacity;
  double excess = kExcess;
  bool parallel = false;     // evict for the whole gap, as the peer does
  size_t mostEvictions = 3;  // where the gap cannot be told
  // Ours: who leaves is chosen by the one order of victims (victims/order.h), those without elastic
  // resources after all others; without it by Crane's order.
  bool leastLoss = false;
  WallTime now = {};  // losses count until here
};

struct Throttle {
  std::string uid, container;
  double cores = 0;  // kNoQuota: none
  double released = 0;
  bool back = false;
  std::string why = {};
};
struct Evict {
  std::string uid;
  std::optional<int64_t> grace = {};
  double released = 0;  // in the dimension's unit
  std::string why = {};
};
struct Plan {
  std::vector<Throttle> throttles;
  std::vector<std::string> dropCaches;  // uids: memoryThrottle.forceGC
  std::vector<Evict> evictions;
};
Plan planRound(const Round& round);

}  // namespace mangrove::agent::crane
