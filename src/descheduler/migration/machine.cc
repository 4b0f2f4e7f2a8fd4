#include "descheduler/migration/machine.h"

#include <algorithm>

#include <fmt/core.h>

#include "descheduler/migration/machine_state.h"
#include "descheduler/names.h"

namespace mangrove::descheduler {
namespace {

constexpr Duration kScavengeAfterTtl = std::chrono::minutes(5);
constexpr Duration kScavengeWithoutTtl = std::chrono::minutes(30);

bool hasTtl(const api::PodMigrationJob& job) {
  const bool hasAge = job.meta.creationTimestamp != kZeroTime;
  return hasAge && job.spec.ttl && *job.spec.ttl > Duration::zero();
}
WallTime endOf(const api::PodMigrationJob& job, Duration life) {
  return job.meta.creationTimestamp + std::chrono::duration_cast<std::chrono::microseconds>(life);
}

// A job that has ended without a move gives its reservation back, unless somebody lives in it.
Step ended(const MigrationSight& sight) {
  Step step;
  const bool moved = sight.job.status.phase == phase::kSucceeded;
  const bool inUse =
      sight.reservation != nullptr && !sight.reservation->status.currentOwners.empty();
  if (!moved && sight.reservation != nullptr && !inUse) step.act = Step::Act::kDeleteReservation;
  return step;
}

// From Pending to Running: the pod of that name becomes the one that is meant.
bool begin(Progression& at) {
  const auto& ref = at.job().spec.podRef;
  if (!ref || ref->ns.empty() || ref->name.empty()) {
    return at.fail(reason::kInvalidPodRef, "spec.podRef has no namespace or no name");
  }
  if (at.sight().pod == nullptr) {
    return at.fail(reason::kMissingPod, fmt::format("there is no pod {}/{}", ref->ns, ref->name));
  }
  at.adoptPod();
  return true;
}

void finish(Progression& at) {
  at.status().phase = phase::kSucceeded;
  at.status().status = "Complete";
  at.changed();
}

void go(Progression& at, const MachineDefaults& defaults) {
  const std::string& now = at.job().status.phase;
  if ((now.empty() || now == phase::kPending) && !begin(at)) return;
  if (at.sight().company == Company::kBroken && !at.isInCompany()) return;
  const bool behind = at.isEvictionSent() || at.isGone();
  if (at.sight().limited && !behind) return;  // holds evictions, not what follows
  if (!reservesFirst(at.job(), defaults)) {
    if (at.isInCompany() && at.evict()) finish(at);
    return;
  }
  if (!at.reserve()) return;
  if (at.isForPendingPod()) {
    if (at.waitUntilScheduled()) finish(at);
    return;
  }
  if (at.isInCompany() && at.evict() && at.waitUntilBound()) finish(at);
}

}  // namespace

bool isFinished(std::string_view name) {
  return name == phase::kSucceeded || name == phase::kFailed || name == phase::kAborted;
}

bool reservesFirst(const api::PodMigrationJob& job, const MachineDefaults& defaults) {
  return (job.spec.mode.empty() ? defaults.mode : job.spec.mode) != "EvictDirectly";
}

Step nextStep(const MigrationSight& sight, const MachineDefaults& defaults) {
  const api::PodMigrationJob& job = sight.job;
  if (isFinished(job.status.phase)) return ended(sight);
  if (job.spec.paused) return {};  // manual approval: nothing happens, not even a timeout
  Progression at(sight);
  if (hasTtl(job) && sight.now >= endOf(job, *job.spec.ttl)) {
    at.fail(reason::kTimeout,
            fmt::format("it did not end within {} s",
                        std::chrono::floor<std::chrono::seconds>(*job.spec.ttl).count()));
    return at.step();
  }
  if (sight.arbitrated) go(at, defaults);
  Step step = at.step();
  if (hasTtl(job)) {
    const WallTime end = endOf(job, *job.spec.ttl);
    step.lookAt = step.lookAt ? std::min(*step.lookAt, end) : end;
  }
  return step;
}

const api::ProbedCondition* conditionOf(const std::vector<api::ProbedCondition>& conditions,
                                        std::string_view type) {
  const auto found = std::find_if(conditions.begin(), conditions.end(),
                                  [&](const auto& one) { return one.type == type; });
  return found == conditions.end() ? nullptr : &*found;
}

void setCondition(api::PodMigrationJobStatus& status, std::string_view type, api::Truth truth,
                  std::string_view why, std::string_view message, WallTime now) {
  const std::string_view word = api::truthName(truth);
  auto at = std::find_if(status.conditions.begin(), status.conditions.end(),
                         [&](const auto& one) { return one.type == type; });
  if (at == status.conditions.end()) {
    at = status.conditions.insert(at, api::ProbedCondition{});
    at->type = type;
  } else if (at->status == word && at->reason == why && at->message == message) {
    return;
  }
  if (at->status != word) at->lastTransitionTime = now;
  at->status = word;
  at->reason = why;
  at->message = message;
  at->lastProbeTime = now;
  status.status = type;
  status.reason = why;
  status.message = message;
}

api::PodMigrationJobStatus evictionSent(api::PodMigrationJobStatus status, WallTime now,
                                        std::string_view message) {
  setCondition(status, condition::kEviction, api::Truth::kFalse, reason::kEvicting, message, now);
  return status;
}

api::PodMigrationJobStatus creationFailed(api::PodMigrationJobStatus status, WallTime now,
                                          std::string_view message) {
  setCondition(status, condition::kReservationCreated, api::Truth::kFalse,
               reason::kFailedCreateReservation, message, now);
  return status;
}

api::PodMigrationJobStatus failedBy(api::PodMigrationJobStatus status, std::string_view why,
                                    std::string_view message) {
  status.phase = phase::kFailed;
  status.reason = why;
  status.message = message;
  return status;
}

bool isScavenged(const api::PodMigrationJob& job, WallTime now) {
  if (job.meta.creationTimestamp == kZeroTime) return false;
  const Duration life = hasTtl(job) ? *job.spec.ttl + kScavengeAfterTtl : kScavengeWithoutTtl;
  return now >= endOf(job, life);
}

std::string_view evictionPolicyOf(const api::Pod& pod, const api::PodMigrationJob& job,
                                  std::string_view fallback) {
  for (const api::Labels* labels : {&pod.meta.labels, &job.meta.labels}) {
    const auto wanted = labels->get(key::kEvictPolicy);
    if (!wanted) continue;
    for (const std::string_view known : {"Eviction", "Delete", "SoftEviction"}) {
      if (*wanted == known) return known;
    }
    return fallback;
  }
  return fallback;
}

}  // namespace mangrove::descheduler
