// The MigrationController as filter, as evictor, and as arbitrator.
#include <fmt/core.h>

#include "base/os/log.h"
#include "descheduler/migration/arbitrate.h"
#include "descheduler/migration/bodies.h"
#include "descheduler/migration/controller.h"
#include "descheduler/names.h"

namespace mangrove::descheduler {
namespace {
const Logger log("descheduler");
}

std::vector<JobView> MigrationController::views() const {
  std::vector<JobView> out = desk_.caches.jobViews();
  for (JobView& job : out) job.arbitrated = job.arbitrated || passing_.contains(job.name);
  for (const auto& [name, job] : assumed_) {
    out.push_back(job);
    out.back().pod = desk_.caches.pods.find(job.podKey).get();
  }
  return out;
}

const LiveJobs& MigrationController::live() {
  if (!live_) live_.emplace(views(), LiveJobs::Count::kAllLive);
  return *live_;
}

FilterRules MigrationController::rules() {
  return {args_, live(), [this](const api::Pod& pod) { return desk_.caches.workloadOf(pod); },
          [this](const api::Pod& pod) { return desk_.caches.hasLocalStorage(pod); }};
}

std::optional<std::string> MigrationController::refusal(const api::Pod& pod) {
  return descheduler::refusal(pod, rules());
}

std::optional<std::string> MigrationController::refusalNow(const api::Pod& pod) {
  if (!args_.nodeFit || !args_.checks("NodeFit")) return std::nullopt;
  return elsewhere_.refusal(pod, args_.nodeSelector);
}

void MigrationController::beginCycle(const Look& look) {
  elsewhere_.begin(look);
  live_.reset();
  desk_.caches.resolvePriority(args_.priorityThresholdName, args_.priorityThreshold);
}

void MigrationController::endCycle() {
  elsewhere_.end();
  live_.reset();
}

bool MigrationController::evict(const api::Pod& pod, std::string_view plugin,
                                std::string_view reason) {
  const std::string podKey = api::keyOf(pod.meta).text();
  if (args_.dryRun) {
    log.info("dry run: {} would migrate {}: {}", plugin, podKey, reason);
    return true;
  }
  if (auto why = refusal(pod)) {
    log.debug("{} is not migrated: {}", podKey, *why);
    return false;
  }
  if (limiter_.isExceeded(pod, desk_.clock.mono())) return false;
  NewJob job{randomUuid(rng_.next(), rng_.next()),
             std::string(reason),
             std::string(plugin),
             instance_,
             args_.mode,
             args_.ttl,
             args_.deleteOptions};
  JobView assumed;
  assumed.name = job.name;
  assumed.podKey = podKey;
  assumed.podUid = pod.meta.uid.str();
  assumed.created = desk_.clock.wall();
  assumed_[job.name] = assumed;
  assumed.pod = &pod;
  live_->add(assumed);
  desk_.send(createJobRequest(job, pod),
             [this, name = job.name, podKey](Result<client::Reply> made) {
               if (made || made.error().code() == Code::kExists) return;
               log.warn("no migration of {}: {}", podKey, made.error().text());
               assumed_.erase(name);
               live_.reset();
             });
  return true;
}

// At once, and then no sooner than every interval while somebody waits.
void MigrationController::arbitrateSoon() {
  if (!leads_ || arbitrationDue_) return;
  arbitrationDue_ = true;
  const Duration since = desk_.clock.mono() - arbitratedAt_;
  const Duration wait = std::max(Duration::zero(), args_.arbitrationInterval - since);
  auto run = [this] {
    arbitrationDue_ = false;
    if (leads_) arbitrateAll();
  };
  if (wait == Duration::zero()) return desk_.owner.post(life_.guard(run));
  arbitration_ = life_.later(desk_.clock, desk_.owner, wait, run);
}

void MigrationController::arbitrateAll() {
  arbitratedAt_ = desk_.clock.mono();
  const std::vector<JobView> all = views();
  std::vector<const JobView*> waiting;
  for (const JobView& job : all) {
    const auto seen = desk_.caches.jobs.find(job.name);
    const bool waits = seen != nullptr && isPending(job) && !job.arbitrated && !seen->spec.paused;
    if (waits && !busy_.contains(job.name)) waiting.push_back(&job);
  }
  if (waiting.empty()) return;
  const FilterRules filter = rules();
  ArbitrationRules how;
  how.never = [&](const api::Pod& pod) { return neverMoves(pod, filter); };
  how.limits = args_.limits;
  how.workloadOf = filter.workloadOf;
  how.isForced = isForced;
  bool someWait = false;
  for (const Verdict& verdict : arbitrate(waiting, all, how)) {
    if (verdict.outcome == Verdict::Outcome::kPassed) passed(*verdict.job);
    if (verdict.outcome == Verdict::Outcome::kFailed) forbidden(*verdict.job, verdict.why);
    someWait = someWait || verdict.outcome == Verdict::Outcome::kWaits;
  }
  if (someWait) arbitrateSoon();
}

void MigrationController::passed(const JobView& view) {
  const JobPtr job = desk_.caches.jobs.find(view.name);
  passing_.insert(view.name);
  json::Object body{
      {"metadata", json::Object{{"annotations", json::Object{{key::kPassedArbitration, "true"}}}}}};
  busy_.insert(view.name);
  desk_.send(patchJob(*job, std::move(body)), [this, name = view.name](Result<client::Reply> told) {
    busy_.erase(name);
    passing_.erase(name);
    live_.reset();
    queue_.add(name);
    if (!told) arbitrateSoon();
  });
}

void MigrationController::forbidden(const JobView& view, const std::string& why) {
  const JobPtr job = desk_.caches.jobs.find(view.name);
  const std::string message = fmt::format("pod {} is not to be moved: {}", view.podKey, why);
  if (desk_.events != nullptr) desk_.events->warning(refOf(*job), reason::kForbidden, message);
  if (options_.onEnd) options_.onEnd(fmt::format("Failed/{}", reason::kForbidden));
  writeStatus(job, failedBy(job->status, reason::kForbidden, message), {});
}

}  // namespace mangrove::descheduler
