#include "cli/migration_view.h"

#include <fmt/format.h>

#include "base/text/time_text.h"
#include "descheduler/migration/machine.h"
#include "descheduler/migration/story.h"
#include "descheduler/names.h"

namespace mangrove::cli {
namespace {

namespace key = mangrove::descheduler::key;
namespace phase = mangrove::descheduler::phase;
using mangrove::descheduler::Account;
using mangrove::descheduler::MigrationStory;

std::string_view note(const api::PodMigrationJob& job, std::string_view annotation) {
  return job.meta.annotations.get(annotation).value_or("");
}

std::string reservationText(const MigrationScene& scene) {
  if (scene.reservation == nullptr) return "there is none";
  const auto& status = scene.reservation->status;
  const std::string where = status.nodeName.empty() ? "nowhere yet" : status.nodeName;
  return fmt::format("{} is {}, on {}", scene.reservation->meta.name.view(),
                     status.phase.empty() ? "Pending" : status.phase, where);
}

std::string answerOf(const MigrationStory& story) {
  if (story.phase == phase::kSucceeded)
    return fmt::format("migration {} moved pod {} from {} to {}", story.name, story.pod, story.from,
                       story.to.empty() ? "wherever its scheduler put it" : story.to);
  const bool own = story.state.starts_with("it ");
  return fmt::format("migration {} of pod {} {}{}", story.name, story.pod,
                     own ? "" : "is under way: ", own ? story.state.substr(3) : story.state);
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

// Both nodes before and after, where they were measured.
std::string accountText(const Account& account) {
  const auto& was = account.before;
  if (!account.after)
    return fmt::format("open: {} at {:.1f} % CPU, {} at {:.1f} %", was.source.node, was.source.cpu,
                       was.target.node, was.target.cpu);
  const auto& is = *account.after;
  std::string out =
      fmt::format("{}: {} {:.1f} -> {:.1f} % CPU, {} {:.1f} -> {:.1f} %",
                  account.paid ? "it paid" : "it did not pay", was.source.node, was.source.cpu,
                  is.source.cpu, was.target.node, was.target.cpu, is.target.cpu);
  if (was.pod.waits && is.pod.waits)
    out +=
        fmt::format("; the pod waits for CPUs {:.0f} -> {:.0f} %", *was.pod.waits, *is.pod.waits);
  if (was.pod.latency && is.pod.latency)
    out += fmt::format("; its latency {:.1f} -> {:.1f} ms", *was.pod.latency, *is.pod.latency);
  return out;
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

std::string factsText(const MigrationScene& scene, const MigrationStory& story) {
  std::vector<std::vector<std::string>> rows{
      {"why", story.why},
      {"from", story.from},
      {"to", story.to.empty() ? "not known yet" : story.to},
      {"proof", story.proof},
      {"mode", scene.job.spec.mode.empty() ? "the descheduler's default" : scene.job.spec.mode},
      {"reservation", reservationText(scene)},
      {"time", endText(scene)}};
  if (story.account) rows.push_back({"account", accountText(*story.account)});
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
  const MigrationStory story = mangrove::descheduler::storyOf(scene.job, scene.pod);
  Told told;
  told.answer = answerOf(story);
  told.good = story.phase != phase::kFailed;
  told.terms = factsText(scene, story) + stepsTable(scene.job);
  advise(scene, told);
  told.data = {{"phase", story.phase},
               {"pod", story.pod},
               {"from", story.from},
               {"to", story.to},
               {"why", story.why},
               {"proof", story.proof},
               {"state", story.state},
               {"provenTarget", note(scene.job, key::kTarget)},
               {"reason", scene.job.status.reason}};
  return told;
}

}  // namespace mangrove::cli
