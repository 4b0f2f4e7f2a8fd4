#pragma once
// Which waiting PodMigrationJobs may begin, and in which order they are asked.
//
// Later rules weigh more: newest job first; by what its pod is worth (order/pod_order.h), jobs
// without a pod first; jobs of one batch Job next to each other, at the place of the best; those
// whose batch Job is moving most already first of all.
//
//   for (const Verdict& v : arbitrate(waiting, all, rules)) …
//
// Pure functions, any thread.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "descheduler/migration/limits.h"

namespace mangrove::descheduler {

std::vector<const JobView*> arbitrationOrder(std::vector<const JobView*> waiting,
                                             std::span<const JobView> all);

struct Verdict {
  enum class Outcome { kPassed, kWaits, kFailed } outcome = Outcome::kPassed;
  const JobView* job = nullptr;
  std::string why;  // waits and failed
};

struct ArbitrationRules {
  // Why this pod may never be moved; nullopt: it may.
  std::function<std::optional<std::string>(const JobView&)> never;
  MigrationLimits limits;
  WorkloadOf workloadOf;
  // The annotation on pods that lets both be skipped.
  std::function<bool(const api::Pod&)> isForced;
};

// In the order above; one that passes counts for those after it. Jobs that move together pass
// together. A gang is one move to the limits, which count those of others only, and none to the
// limits of its workload, which stops as a whole anyway.
std::vector<Verdict> arbitrate(std::vector<const JobView*> waiting, std::span<const JobView> all,
                               const ArbitrationRules& rules);

}  // namespace mangrove::descheduler
