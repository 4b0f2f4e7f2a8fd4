#pragma once
// CronJob: makes a Job whenever its schedule says so, once per time, and keeps a few finished ones.
// Pure functions, any thread.

#include <memory>
#include <string>
#include <vector>

#include "workloads/objects.h"
#include "workloads/plan.h"

namespace mangrove::workloads {

// `jobs`: those whose controller this is. `utcOffset`: what the schedule's time zone is ahead of
// UTC now; an error, a zone that nobody knows, starts nothing. `raw`: the CronJob's JSON.
Plan planCronJob(const CronJob& cron, const std::vector<std::shared_ptr<const Job>>& jobs,
                 const Result<Duration>& utcOffset, std::string raw, WallTime now);

}  // namespace mangrove::workloads
