// The MigrationController as filter, as evictor, and as arbitrator.
#include <fmt/core.h>

#include "api/pod/classes.h"
#include "base/number/elapsed.h"
#include "base/os/log.h"
#include "base/text/time_text.h"
#include "descheduler/migration/arbitrate.h"
#include "descheduler/migration/bodies.h"
#include "descheduler/migration/controller.h"
#include "descheduler/names.h"

namespace mangrove::descheduler {
namespace {
const Logger log("descheduler");
constexpr Duration kSettles = std::chrono::hours(1);

bool isOffline(const api::Pod& pod) {
  const api::PriorityBand band = api::bandWithDefault(pod);
  return band == api::PriorityBand::kBatch || band == api::PriorityBand::kFree;
}
}  // namespace

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
  return {args_,
          live(),
          [this](const api::Pod& pod) { return desk_.caches.workloadOf(pod); },
          [this](const api::Pod& pod) { return desk_.caches.hasLocalStorage(pod); },
          [this](const api::Pod& pod) {
            auto why = movedLately(pod);
            return why ? why : coolsDown(pod);
          },
          [this](const api::Pod& pod) -> std::optional<std::string> {
            const GangVerdict verdict = gangVerdict(pod);
            if (verdict.way != GangWay::kStays) return std::nullopt;
            return verdict.why;
          }};
}

// What a pod was moved for would be undone by moving it again: cycles of moves begin so. A node
// that fails is a reason all the same.
std::optional<std::string> MigrationController::movedLately(const api::Pod& pod) const {
  if (!args_.provenMoves) return std::nullopt;
  WallTime when = kZeroTime;
  if (const auto note = pod.meta.annotations.get(key::kMovedAt))
    when = parseTime(*note).value_or(kZeroTime);
  const auto noted = moved_.find(api::keyOf(pod.meta).text());
  // One that was made later is a namesake.
  if (noted != moved_.end() && pod.meta.creationTimestamp <= noted->second)
    when = std::max(when, noted->second);
  const Duration since = elapsed(when, desk_.clock.wall());
  if (since >= kSettles) return std::nullopt;
  const auto node = desk_.caches.nodes.find(pod.nodeName.view());
  if (node == nullptr || !takesPart(*node)) return std::nullopt;
  return fmt::format("it was moved here {} min ago, and nobody is moved twice within an hour",
                     std::chrono::floor<std::chrono::minutes>(since).count());
}

std::optional<std::string> MigrationController::coolsDown(const api::Pod& pod) const {
  const auto* owner = pod.meta.controller();
  if (owner == nullptr) return std::nullopt;
  const auto left = rest_.left(owner->uid.str(), pod.nodeName.view(), desk_.clock.wall(), cycle_);
  if (!left) return std::nullopt;
  const auto node = desk_.caches.nodes.find(pod.nodeName.view());
  if (node == nullptr || !takesPart(*node)) return std::nullopt;
  return fmt::format("one of its workload has left {} lately, and the others stay for {} s more",
                     pod.nodeName.view(), std::chrono::ceil<std::chrono::seconds>(*left).count());
}

// On the pod, for those who come after us, and here until the pod shows it.
void MigrationController::noteMoved(const api::PodMigrationJobStatus& status) {
  if (!args_.provenMoves || !status.podRef || status.podRef->name.empty()) return;
  const auto* ready = conditionOf(status.conditions, condition::kBoundPodReady);
  const WallTime now = desk_.clock.wall();
  const WallTime when = ready != nullptr ? ready->lastTransitionTime : now;
  std::erase_if(moved_, [&](const auto& one) { return now - one.second >= kSettles; });
  const api::ObjectRef& pod = *status.podRef;
  if (!moved_.insert_or_assign(client::keyOf(pod.ns, pod.name), when).second) return;
  desk_.send(movedNote(pod.ns, pod.name, when), [](Result<client::Reply> noted) {
    if (!noted) log.debug("a moved pod does not show it: {}", noted.error().text());
  });
}

bool MigrationController::takesUnplaceable(const api::Pod& pod) {
  return args_.evictUnplaceable && isOffline(pod) &&
         static_cast<int64_t>(live().ofController(pod).size()) < args_.maxUnplaceablePerWorkload;
}

std::optional<std::string> MigrationController::refusal(const api::Pod& pod) {
  if (const Pods all = companionsOf(pod); !all.empty()) return wholeRefusal(all);
  return descheduler::refusal(pod, rules());
}

std::optional<std::string> MigrationController::refusalNow(const api::Pod& pod) {
  if (!args_.nodeFit || !args_.checks("NodeFit")) return std::nullopt;
  return elsewhere_.refusal(pod, args_.nodeSelector);
}

void MigrationController::beginCycle(const Look& look) {
  ++cycle_;
  elsewhere_.begin(look);
  live_.reset();
  desk_.caches.resolvePriority(args_.priorityThresholdName, args_.priorityThreshold);
}

void MigrationController::endCycle() {
  elsewhere_.end();
  live_.reset();
}

std::string_view MigrationController::modeOf(const Eviction& eviction) const {
  return eviction.unplaceable ? api::migration_mode::kEvictDirectly : std::string_view(args_.mode);
}

NewJob MigrationController::newJob(const Eviction& eviction) {
  NewJob job{randomUuid(rng_.next(), rng_.next()),
             std::string(eviction.reason),
             std::string(eviction.plugin),
             instance_,
             std::string(modeOf(eviction)),
             args_.ttl,
             args_.deleteOptions,
             std::string(eviction.target),
             eviction.unplaceable};
  job.plan = fmt::format("{}-{}", std::string_view(instance_).substr(0, 8), cycle_);
  return job;
}

bool MigrationController::evict(const Eviction& eviction) {
  const api::Pod& pod = eviction.pod;
  const std::string podKey = api::keyOf(pod.meta).text();
  if (args_.dryRun) {
    log.info("dry run: {} would migrate {}: {}", eviction.plugin, podKey, eviction.reason);
    return true;
  }
  if (!companionsOf(pod).empty()) return false;  // not without the others
  if (auto why = refusal(pod)) {
    log.debug("{} is not migrated: {}", podKey, *why);
    return false;
  }
  if (limiter_.isExceeded(pod, desk_.clock.mono())) return false;
  create(newJob(eviction), pod);
  return true;
}

void MigrationController::create(NewJob job, const api::Pod& pod) {
  JobView assumed;
  assumed.name = job.name;
  assumed.podKey = api::keyOf(pod.meta).text();
  assumed.podUid = pod.meta.uid.str();
  assumed.created = desk_.clock.wall();
  assumed.together = job.together;
  assumed_[job.name] = assumed;
  assumed.pod = &pod;
  if (const auto* owner = pod.meta.controller())
    rest_.note(owner->uid.str(), pod.nodeName.view(), desk_.clock.wall(), cycle_);
  (void)live();
  live_->add(assumed);
  desk_.send(createJobRequest(job, pod),
             [this, name = job.name, podKey = assumed.podKey](Result<client::Reply> made) {
               if (made || made.error().code() == Code::kExists) return;
               log.warn("no migration of {}: {}", podKey, made.error().text());
               assumed_.erase(name);
               live_.reset();
             });
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
  how.never = [&](const JobView& job) { return neverArbitrated(job, filter); };
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
