#pragma once
// Whether a service that nothing else helped may be moved (the ladder's last step), and the
// PodMigrationJob that asks the descheduler for it. One of a workload at a time, and only where
// others of it serve meanwhile. Pure functions, any thread.

#include <span>
#include <string>

#include "api/interference/report.h"
#include "api/koordinator/pod_migration_job.h"
#include "api/pod/pod.h"
#include "json/value.h"

namespace mangrove::manager {

inline constexpr std::string_view kMovedWorkload = "colocation.mangrove.io/interference-workload";

struct MoveAnswer {
  std::string refusal;   // "": it may
  std::string workload;  // uid of its owner
  std::string jobName;
};
// `pods`: of the service's namespace; `jobs`: all of the cluster.
MoveAnswer mayMove(const api::InterferenceReport& report, std::span<const api::Pod> pods,
                   std::span<const api::PodMigrationJob> jobs);
json::Object moveJob(const api::InterferenceReport& report, const MoveAnswer& answer);

// A report whose episode is over for so long that it is nobody's news any more.
inline constexpr auto kKeepReports = std::chrono::hours(24 * 14);
bool isOld(const api::InterferenceReport& report, WallTime now);

}  // namespace mangrove::manager
