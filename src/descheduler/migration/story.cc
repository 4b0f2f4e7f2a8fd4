#include "descheduler/migration/story.h"

#include <algorithm>

#include <fmt/format.h>

#include "descheduler/migration/machine.h"
#include "descheduler/names.h"

namespace mangrove::descheduler {
namespace {

std::string note(const api::PodMigrationJob& job, std::string_view annotation) {
  return std::string(job.meta.annotations.get(annotation).value_or(""));
}

std::string podOf(const api::PodMigrationJob& job) {
  return job.spec.podRef ? fmt::format("{}/{}", job.spec.podRef->ns, job.spec.podRef->name)
                         : std::string("(none)");
}

// Once the old pod is gone one of its name may stand elsewhere.
std::string sourceOf(const api::PodMigrationJob& job, const api::Pod* pod) {
  const std::string noted = note(job, key::kSource);
  if (!noted.empty()) return noted;
  const auto account = accountOf(job.status);
  if (account && !account->before.source.node.empty()) return account->before.source.node;
  const bool same = pod != nullptr && job.spec.podRef &&
                    (job.spec.podRef->uid.empty() || pod->meta.uid.str() == job.spec.podRef->uid);
  return same && !pod->nodeName.empty() ? pod->nodeName.str() : "?";
}

std::string whyOf(const api::PodMigrationJob& job) {
  const std::string reason = note(job, key::kEvictReason), trigger = note(job, key::kEvictTrigger);
  if (reason.empty() && trigger.empty()) return "made by hand, and no reason was noted";
  if (reason.empty() || reason == trigger) return trigger;
  return trigger.empty() ? reason : fmt::format("{} ({})", reason, trigger);
}

std::string proofOf(const api::PodMigrationJob& job) {
  if (note(job, key::kUnplaceable) == "true") return "unplaceable: no node has room for it";
  const std::string target = note(job, key::kTarget);
  if (target.empty()) return "none: nobody asked where it would go";
  return fmt::format("the scheduler's rules put it on {}", target);
}

bool is(const api::PodMigrationJob& job, std::string_view type, std::string_view truth) {
  const auto* found = conditionOf(job.status.conditions, type);
  return found != nullptr && found->status == truth;
}

// What a job that runs waits for, the last stage first.
std::string waitsFor(const api::PodMigrationJob& job) {
  if (is(job, condition::kBoundPodReady, "False")) return "the new pod is not ready yet";
  if (is(job, condition::kEviction, "True"))
    return "the pod is gone, and no new one has taken the reservation yet";
  if (is(job, condition::kEviction, "False"))
    return "the pod was asked to leave and is still there";
  if (is(job, condition::kEviction, "Unknown"))
    return "the eviction is refused so far (a disruption budget, or a limit), and tried again";
  if (is(job, condition::kReservationScheduled, "False"))
    return fmt::format(
        "its reservation finds no node: {}",
        conditionOf(job.status.conditions, condition::kReservationScheduled)->message);
  if (is(job, condition::kReservationCreated, "True")) return "its reservation has no node yet";
  return "its reservation is not made yet, or a limiter holds it";
}

std::string stateOf(const api::PodMigrationJob& job) {
  if (job.status.phase == phase::kSucceeded) return "it has moved";
  if (job.status.phase == phase::kFailed)
    return fmt::format("it failed ({}): {}", job.status.reason, job.status.message);
  if (job.status.phase == phase::kAborted) return "it was stopped by a user";
  if (job.spec.paused) return "it waits for approval";
  if (note(job, key::kPassedArbitration) != "true") return "it waits for its turn";
  return waitsFor(job);
}

// The account is closed minutes after the move.
WallTime endOf(const api::PodMigrationJob& job) {
  WallTime last = kZeroTime;
  if (!job.status.isFinished()) return last;
  for (const auto& one : job.status.conditions)
    if (one.type != kAccount) last = std::max(last, one.lastTransitionTime);
  return last;
}

}  // namespace

MigrationStory storyOf(const api::PodMigrationJob& job, const api::Pod* pod) {
  MigrationStory out;
  out.name = job.meta.name.str();
  out.pod = podOf(job);
  out.from = sourceOf(job, pod);
  out.to = job.status.nodeName.empty() ? note(job, key::kTarget) : job.status.nodeName;
  out.why = whyOf(job);
  out.proof = proofOf(job);
  out.phase = job.status.phase.empty() ? std::string(phase::kPending) : job.status.phase;
  out.state = stateOf(job);
  out.created = job.meta.creationTimestamp;
  out.ended = endOf(job);
  out.account = accountOf(job.status);
  return out;
}

}  // namespace mangrove::descheduler
