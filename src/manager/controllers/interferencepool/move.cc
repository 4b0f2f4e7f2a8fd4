#include "manager/controllers/interferencepool/move.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/koordinator/pod_migration_job.h"

namespace mangrove::manager {
namespace {

const api::Pod* victimIn(const api::InterferenceReport& report, std::span<const api::Pod> pods) {
  const auto found = std::find_if(pods.begin(), pods.end(), [&](const api::Pod& pod) {
    return pod.meta.uid.str() == report.spec.victimUid;
  });
  return found == pods.end() ? nullptr : &*found;
}

bool serves(const api::Pod& pod) {
  return !pod.meta.isDeleting() && api::isActive(pod) && !pod.nodeName.empty();
}

bool isOf(const api::PodMigrationJob& job, const std::string& workload) {
  return !job.status.isFinished() && job.meta.labels.get(kMovedWorkload) == workload;
}

MoveAnswer refused(std::string why) {
  return {std::move(why), "", ""};
}

}  // namespace

MoveAnswer mayMove(const api::InterferenceReport& report, std::span<const api::Pod> pods,
                   std::span<const api::PodMigrationJob> jobs) {
  const api::Pod* victim = victimIn(report, pods);
  if (victim == nullptr || victim->meta.isDeleting()) return refused("it is gone already");
  const api::OwnerReference* owner = victim->meta.controller();
  if (owner == nullptr) return refused("nobody would make it anew: it has no controller");
  const std::string workload = owner->uid.str();
  const auto others = std::count_if(pods.begin(), pods.end(), [&](const api::Pod& pod) {
    const api::OwnerReference* its = pod.meta.controller();
    return &pod != victim && its != nullptr && its->uid.str() == workload && serves(pod);
  });
  if (others == 0) return refused("no other replica of it serves");
  for (const api::PodMigrationJob& job : jobs) {
    const bool same = job.spec.podRef && job.spec.podRef->uid == report.spec.victimUid;
    if (isOf(job, workload) || (same && !job.status.isFinished()))
      return refused(
          fmt::format("PodMigrationJob {} of its workload is under way", job.meta.name.view()));
  }
  return {"", workload, fmt::format("interference-{}", report.spec.victimUid)};
}

json::Object moveJob(const api::InterferenceReport& report, const MoveAnswer& answer) {
  const size_t slash = report.spec.victim.find('/');
  return {{"apiVersion", "scheduling.koordinator.sh/v1alpha1"},
          {"kind", "PodMigrationJob"},
          {"metadata",
           {{"name", answer.jobName},
            {"labels", {{kMovedWorkload, answer.workload}}},
            {"annotations",
             {{"colocation.mangrove.io/interference-report", report.meta.name.view()}}}}},
          {"spec",
           {{"mode", api::migration_mode::kReservationFirst},
            {"ttl", "5m"},
            {"podRef",
             {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"namespace", report.meta.ns.view()},
              {"name", report.spec.victim.substr(slash + 1)},
              {"uid", report.spec.victimUid}}}}}};
}

bool isOld(const api::InterferenceReport& report, WallTime now) {
  if (report.status.end != kZeroTime) return now > report.status.end + kKeepReports;
  return report.spec.start != kZeroTime && now > report.spec.start + 2 * kKeepReports;
}

}  // namespace mangrove::manager
