#include "cli/migration_view.h"

#include <fmt/format.h>

#include "base/text/time_text.h"
#include "descheduler/migration/machine.h"
#include "descheduler/names.h"

namespace mangrove::cli {
namespace {

namespace condition = mangrove::descheduler::condition;
namespace key = mangrove::descheduler::key;
namespace phase = mangrove::descheduler::phase;
using mangrove::descheduler::conditionOf;

std::string_view note(const api::PodMigrationJob& job, std::string_view annotation) {
  return job.meta.annotations.get(annotation).value_or("");
}

std::string podOf(const api::PodMigrationJob& job) {
  return job.spec.podRef ? fmt::format("{}/{}", job.spec.podRef->ns, job.spec.podRef->name)
                         : std::string("(none)");
}

std::string sourceOf(const MigrationScene& scene) {
  const std::string_view noted = note(scene.job, key::kSource);
  if (!noted.empty()) return std::string(noted);
  return scene.pod != nullptr && !scene.pod->nodeName.empty() ? scene.pod->nodeName.str() : "?";
}

std::string reservationText(const MigrationScene& scene) {
  if (scene.reservation == nullptr) return "there is none";
  const auto& status = scene.reservation->status;
  const std::string where = status.nodeName.empty() ? "nowhere yet" : status.nodeName;
  return fmt::format("{} is {}, on {}", scene.reservation->meta.name.view(),
                     status.phase.empty() ? "Pending" : status.phase, where);
}

bool is(const api::PodMigrationJob& job, std::string_view type, std::string_view truth) {
  const auto* found = conditionOf(job.status.conditions, type);
  return found != nullptr && found->status == truth;
}

// What a job that runs waits for, the last stage first.
std::string waitsFor(const MigrationScene& scene) {
  const api::PodMigrationJob& job = scene.job;
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

std::string answerOf(const MigrationScene& scene) {
  const api::PodMigrationJob& job = scene.job;
  const std::string name = job.meta.name.str();
  const std::string pod = podOf(job);
  if (job.status.phase == phase::kSucceeded)
    return fmt::format(
        "migration {} moved pod {} from {} to {}", name, pod, sourceOf(scene),
        job.status.nodeName.empty() ? "wherever its scheduler put it" : job.status.nodeName);
  if (job.status.phase == phase::kFailed)
    return fmt::format("migration {} of pod {} failed ({}): {}", name, pod, job.status.reason,
                       job.status.message);
  if (job.status.phase == phase::kAborted)
    return fmt::format("migration {} of pod {} was stopped by a user", name, pod);
  if (job.spec.paused) return fmt::format("migration {} of pod {} waits for approval", name, pod);
  if (note(job, key::kPassedArbitration) != "true")
    return fmt::format("migration {} of pod {} waits for its turn", name, pod);
  return fmt::format("migration {} of pod {} is under way: {}", name, pod, waitsFor(scene));
}

std::string since(WallTime from, WallTime when) {
  if (when == kZeroTime || from == kZeroTime) return "";
  return fmt::format("+{}", formatDuration(std::chrono::floor<std::chrono::seconds>(when - from)));
}

std::string stepsTable(const api::PodMigrationJob& job) {
  std::vector<std::vector<std::string>> rows{{"STEP", "STATUS", "SINCE", "REASON", "MESSAGE"}};
  for (const auto& one : job.status.conditions)
    rows.push_back({one.type, one.status, since(job.meta.creationTimestamp, one.lastTransitionTime),
                    one.reason, one.message});
  return rows.size() == 1 ? std::string("No step is behind it yet.\n") : tableText(rows);
}

std::string endText(const MigrationScene& scene) {
  const auto& job = scene.job;
  if (!job.spec.ttl || job.meta.creationTimestamp == kZeroTime) return "it has no end";
  const auto left = job.meta.creationTimestamp +
                    std::chrono::duration_cast<std::chrono::microseconds>(*job.spec.ttl) -
                    scene.now;
  return left > left.zero()
             ? fmt::format("it ends in {}",
                           formatDuration(std::chrono::floor<std::chrono::seconds>(left)))
             : std::string("its time is over");
}

std::string factsText(const MigrationScene& scene) {
  const auto& job = scene.job;
  const std::string_view target = note(job, key::kTarget);
  std::vector<std::vector<std::string>> rows{
      {"why", fmt::format("{} ({})", note(job, key::kEvictReason), note(job, key::kEvictTrigger))},
      {"from", sourceOf(scene)},
      {"proven target",
       target.empty() ? "none: nobody asked where it would go" : std::string(target)},
      {"mode", job.spec.mode.empty() ? "the descheduler's default" : job.spec.mode},
      {"reservation", reservationText(scene)},
      {"time", endText(scene)}};
  return tableText(rows) + "\n";
}

void advise(const MigrationScene& scene, Told& told) {
  const std::string name = scene.job.meta.name.str();
  if (scene.job.status.isFinished()) return;
  if (scene.job.spec.paused)
    told.todo.push_back(fmt::format(
        "Approve it: kubectl patch pmj {} --type=merge -p '{{\"spec\":{{\"paused\":false}}}}'.",
        name));
  else if (note(scene.job, key::kPassedArbitration) != "true")
    told.todo.push_back(
        "Limits of its node, namespace or workload hold it, or no descheduler leads: look at "
        "`kubectl get pmj` and at the Lease koord-descheduler.");
}

}  // namespace

Told tellMigration(const MigrationScene& scene) {
  Told told;
  told.answer = answerOf(scene);
  told.good = scene.job.status.phase != phase::kFailed;
  told.terms = factsText(scene) + stepsTable(scene.job);
  advise(scene, told);
  told.data = {{"phase", scene.job.status.phase},
               {"pod", podOf(scene.job)},
               {"from", sourceOf(scene)},
               {"to", scene.job.status.nodeName},
               {"provenTarget", note(scene.job, key::kTarget)},
               {"reason", scene.job.status.reason}};
  return told;
}

}  // namespace mangrove::cli
