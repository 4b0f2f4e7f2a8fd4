#pragma once
// The accounts of PodMigrationJobs, job by job and added up: what `mangrove report moves` tells.
// Pure.

#include <memory>
#include <vector>

#include "api/koordinator/pod_migration_job.h"
#include "cli/voice.h"

namespace mangrove::cli {

Told tellMoves(const std::vector<std::shared_ptr<api::PodMigrationJob>>& jobs);

}  // namespace mangrove::cli
