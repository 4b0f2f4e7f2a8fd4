#include "descheduler/migration/company.h"

#include "base/text/strings.h"
#include "descheduler/migration/machine.h"
#include "descheduler/names.h"

namespace mangrove::descheduler {
namespace {

bool hasPlace(const api::PodMigrationJob& job) {
  if (job.status.phase == phase::kSucceeded) return true;
  if (job.spec.evictsDirectly()) return job.status.phase == phase::kRunning;
  const auto* scheduled = conditionOf(job.status.conditions, condition::kReservationScheduled);
  return scheduled != nullptr && scheduled->status == "True";
}

}  // namespace

size_t companySizeOf(const api::PodMigrationJob& job) {
  const auto text = job.meta.annotations.get(key::kTogetherSize);
  if (!text || !job.meta.annotations.has(key::kTogether)) return 0;
  return parseInt<size_t>(*text).value_or(0);
}

Company companyOf(const CompanionJobs& jobs, size_t size) {
  if (size == 0) return Company::kNone;
  size_t ready = 0;
  for (const auto& job : jobs) {
    const std::string& at = job->status.phase;
    if (at == phase::kFailed || at == phase::kAborted) return Company::kBroken;
    ready += hasPlace(*job) ? 1 : 0;
  }
  return ready >= size ? Company::kReady : Company::kWaits;
}

}  // namespace mangrove::descheduler
