#pragma once
// Jobs that move together: a gang's members leave their nodes only when the place of each of them is
// kept, and a job whose companion failed before that fails as well.
//
//   switch (companyOf(jobs, size)) { case Company::kWaits: … }
//
// Pure functions, any thread.

#include <cstddef>
#include <memory>
#include <vector>

#include "api/koordinator/pod_migration_job.h"

namespace mangrove::descheduler {

enum class Company { kNone, kWaits, kReady, kBroken };

using CompanionJobs = std::vector<std::shared_ptr<const api::PodMigrationJob>>;

// `jobs`: all that carry the mark, itself included; `size`: how many there should be, 0: it moves
// alone.
Company companyOf(const CompanionJobs& jobs, size_t size);

// How many move together with this job, itself included, as its annotation says; 0: it moves alone.
size_t companySizeOf(const api::PodMigrationJob& job);

}  // namespace mangrove::descheduler
