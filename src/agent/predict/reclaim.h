#pragma once
// How much of what prod pods asked for they will not need: the smaller of two opinions, one by
// pods, one by priority class. And the peak that is to be expected, the larger of the two.
//
//   Reclaim r = prodReclaimable({.allocatable = …, .pods = pods, .system = …, .prod = …});
//   if (r.reclaimable) report(*r.reclaimable);
//
// Worked: a pod asks 2000 m, its p95 is 500 m, margin 10 %: peak 550 m, reclaimable 1450 m.
// Pure; any thread. Table tests and recorded cases beside.

#include <optional>
#include <span>
#include <vector>

#include "api/object/node.h"
#include "api/pod/pod.h"
#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::agent {

struct Amounts {
  MilliCpu cpu;
  Bytes memory;
  bool operator==(const Amounts&) const = default;
};
Amounts operator+(const Amounts& a, const Amounts& b);
Amounts lesserOf(const Amounts& a, const Amounts& b);   // element by element
Amounts greaterOf(const Amounts& a, const Amounts& b);  // element by element
// a - b, never below 0.
Amounts less(const Amounts& a, const Amounts& b);

// p95 of CPU, p98 of memory.
struct Peak {
  MilliCpu cpu;
  Bytes memory;
};

// What a model expects, raised to what came at the same hours of other days; nullopt while the model is
// not trusted.
std::optional<Peak> withSeason(const std::optional<Peak>& model, const std::optional<Peak>& season);

struct ReclaimPod {
  const api::Pod* pod = nullptr;
  Duration age{};
  std::optional<Peak> model;  // nullopt: nothing learnt, or not enough to trust
};

struct ReclaimInputs {
  Amounts allocatable;
  int64_t marginPercent = 10;
  Duration coldStart = std::chrono::hours(24);
  std::span<const ReclaimPod> pods = {};
  // Models of the whole: neither pods nor Kubernetes, prod pods, pods without a class.
  std::optional<Peak> system = {}, prod = {}, none = {};
};

struct Opinion {
  Amounts reclaimable, peak;
};

struct Reclaim {
  std::vector<bool> refused;  // per pod: it has no model though it should
  Opinion byPods;
  Result<Opinion> byPriority = Opinion{};
  Result<Amounts> reclaimable = Amounts{};
  Result<Amounts> peak = Amounts{};
};
Reclaim prodReclaimable(const ReclaimInputs& inputs);

// What the node offers before amplification: the annotation raw-allocatable resource by resource,
// status.allocatable for what it lacks or when it cannot be read.
Amounts rawAllocatable(const api::Node& node);

}  // namespace mangrove::agent
