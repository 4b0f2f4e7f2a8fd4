#include "descheduler/migration/controller.h"

#include <fmt/core.h>

#include "base/os/log.h"
#include "client/informer/resource_version.h"
#include "descheduler/migration/arbitrate.h"
#include "descheduler/migration/bodies.h"
#include "descheduler/names.h"
#include "placement/plugins/coscheduling/gang_settings.h"

namespace mangrove::descheduler {
namespace {

const Logger log("descheduler");

constexpr Duration kScavengeEvery = std::chrono::minutes(1);
constexpr Duration kLookAgain = std::chrono::milliseconds(100);
constexpr Duration kLimitedAgain = std::chrono::seconds(3);
// After a refusal, e.g. by a disruption budget: often enough for a job of five minutes.
constexpr Duration kFirstRetry = std::chrono::milliseconds(200);
constexpr Duration kLongestRetry = std::chrono::seconds(10);

std::string reservationOf(const api::PodMigrationJob& job) {
  const auto& options = job.spec.reservationOptions;
  return options && options->reservationRef ? options->reservationRef->name : std::string();
}
std::string podKeyOf(const api::PodMigrationJob& job) {
  return job.spec.podRef ? client::keyOf(job.spec.podRef->ns, job.spec.podRef->name) : "";
}

}  // namespace

MigrationController::MigrationController(Desk& desk, MigrationArgs args, ControllerOptions options)
    : desk_(desk),
      args_(std::move(args)),
      options_(std::move(options)),
      rng_(options_.seed),
      instance_(randomUuid(rng_.next(), rng_.next())),
      queue_(desk.clock, {.name = "migration",
                          .firstDelay = kFirstRetry,
                          .maxDelay = kLongestRetry,
                          .perSecond = 1000,
                          .burst = 1000}),
      limiter_(args_),
      evictions_(args_.evictQps, static_cast<double>(args_.evictBurst)),
      rest_(args_.provenMoves ? args_.coolDown : Duration::zero()) {}

MigrationController::~MigrationController() {
  life_.end();
  queue_.shutDown();
}

// ---- what wakes a job --------------------------------------------------------------------------

void MigrationController::start() {
  queue_.onWake([owner = &desk_.owner, life = life_.token(), this] {
    owner->post(life.guard([this] { pump(); }));
  });
  listen();
}

void MigrationController::listen() {
  desk_.caches.jobs.onChange([this](const client::Change<api::PodMigrationJob>& change) {
    live_.reset();
    assumed_.erase(std::string(change.key));
    queue_.add(change.key);
    wakeCompany(change.after != nullptr ? *change.after : *change.before);
    if (change.after != nullptr) return arbitrateSoon();
    written_.erase(std::string(change.key));
    if (const std::string name = reservationOf(*change.before); leads_ && !name.empty()) {
      dropReservation(name);
    }
  });
  desk_.caches.pods.onChange([this](const client::Change<SeenPod>& change) {
    for (const auto& job : desk_.caches.jobs.by("pod", change.key)) {
      queue_.add(job->meta.name.view());
    }
    const auto bound = boundPods_.find(change.key);
    if (bound != boundPods_.end()) queue_.add(bound->second);
    if (!desk_.caches.jobs.by("pod", change.key).empty()) live_.reset();
  });
  desk_.caches.reservations.onChange([this](const client::Change<api::Reservation>& change) {
    for (const auto& job : desk_.caches.jobs.by("reservation", change.key)) {
      queue_.add(job->meta.name.view());
    }
  });
}

CompanionJobs MigrationController::companions(const api::PodMigrationJob& job) const {
  CompanionJobs out;
  if (companySizeOf(job) == 0) return out;
  const std::string mark = desk_.caches.viewOf(job).together;
  for (const auto& one : desk_.caches.jobs.by(kTogetherIndex, mark)) out.push_back(one);
  return out;
}

// Who moves together waits for the others' places.
void MigrationController::wakeCompany(const api::PodMigrationJob& job) {
  for (const auto& other : companions(job)) queue_.add(other->meta.name.view());
}

void MigrationController::lead() {
  leads_ = true;
  desk_.caches.jobs.each([this](std::string_view key, const api::PodMigrationJob& job) {
    queue_.add(key);
    if (job.status.phase == phase::kSucceeded) noteMoved(job.status);
    const auto note = [&](std::string_view of) {
      return job.meta.annotations.get(of).value_or("");
    };
    rest_.note(note(key::kWorkload), note(key::kSource), job.meta.creationTimestamp, cycle_);
  });
  arbitrateSoon();
  scavenge();
  wake();
}

void MigrationController::yield() {
  leads_ = false;
  arbitration_.reset();
  scavenger_.reset();
}

void MigrationController::wake() {
  desk_.owner.post(life_.guard([this] { pump(); }));
}

void MigrationController::pump() {
  while (leads_) {
    const auto name = queue_.tryGet();
    if (!name) return;
    reconcile(*name);
    queue_.done(*name);
  }
}

// ---- one job -----------------------------------------------------------------------------------

MigrationSight MigrationController::sightOf(const api::PodMigrationJob& job) {
  MigrationSight out{job};
  out.arbitrated = desk_.caches.viewOf(job).arbitrated;
  out.now = desk_.clock.wall();
  out.company = companyOf(companions(job), companySizeOf(job));
  out.savesFirst = options_.savesFirst;
  if (const auto pod = desk_.caches.pods.find(podKeyOf(job))) {
    out.pod = pod.get();
    // A gang leaves whole or not at all, also where its workload has had its evictions.
    const bool whole = out.company != Company::kNone && !placement::gangIdOf(*pod).empty();
    out.limited = !whole && !job.meta.annotations.has(key::kEvictAnyway) &&
                  limiter_.isExceeded(*pod, desk_.clock.mono());
  }
  if (const auto made = desk_.caches.reservations.find(reservationOf(job))) {
    out.reservation = made.get();
    for (const api::ObjectRef& owner : made->status.currentOwners) {
      const std::string podKey = client::keyOf(owner.ns, owner.name);
      boundPods_.insert_or_assign(podKey, job.meta.name.str());
      if (const auto bound = desk_.caches.pods.find(podKey)) out.boundPod = bound.get();
      break;
    }
  }
  return out;
}

void MigrationController::reconcile(const std::string& name) {
  const JobPtr job = desk_.caches.jobs.find(name);
  if (job == nullptr || busy_.contains(name)) return;
  const auto ours = written_.find(name);
  if (ours != written_.end() && client::surelyOlder(job->meta.resourceVersion, ours->second)) {
    return;  // our own write is on its way here
  }
  const MigrationSight sight = sightOf(*job);
  Step step = nextStep(sight, {args_.mode});
  if (sight.limited) queue_.addAfter(name, kLimitedAgain);
  if (step.lookAt) queue_.addAfter(name, *step.lookAt - sight.now);
  if (job->status.phase == phase::kSucceeded) settleAccount(job);
  carryOut(job, std::move(step));
}

// The objects say first what is done next, so that whoever comes after us sees how far it got.
void MigrationController::carryOut(const JobPtr& job, Step step) {
  if (!step.podUid.empty()) {
    const json::Object body{{"spec", json::Object{{"podRef", json::Object{{"uid", step.podUid}}}}}};
    return write(job, patchJob(*job, body), "naming its pod", {});
  }
  if (!step.status) return act(job, step.act, job->status);
  const std::string& why = step.status->reason;
  const bool missing = why == reason::kMissingReservation || why == reason::kMissingPod;
  if (step.status->phase == phase::kFailed && missing) return confirmMissing(job, std::move(step));
  settle(job, step);
}

// What is not in our cache may be on its way there: before a job fails for it the server is asked.
void MigrationController::confirmMissing(const JobPtr& job, Step step) {
  const std::string name = job->meta.name.str();
  client::Request look;
  const bool pod = step.status->reason == reason::kMissingPod;
  look.ref = {client::kind::kReservation, "", reservationOf(*job), ""};
  if (pod) look.ref = {client::kind::kPod, job->spec.podRef->ns, job->spec.podRef->name, ""};
  busy_.insert(name);
  desk_.send(std::move(look), [this, job, step = std::move(step)](Result<client::Reply> found) {
    const std::string who = job->meta.name.str();
    busy_.erase(who);
    if (!found && found.error().code() == Code::kNotFound) return settle(job, step);
    queue_.addAfter(who, kLookAgain);
  });
}

void MigrationController::settle(const JobPtr& job, const Step& step) {
  if (!step.event.empty() && desk_.events != nullptr) {
    desk_.events->warning(refOf(*job), step.status->reason, step.event);
  }
  if (isFinished(step.status->phase) && options_.onEnd) {
    options_.onEnd(step.status->phase == phase::kFailed ? "Failed/" + step.status->reason
                                                        : step.status->phase);
  }
  const api::PodMigrationJobStatus status = *step.status;
  if (status.phase == phase::kSucceeded) noteMoved(status);
  writeStatus(job, status, [this, job, status, what = step.act] { act(job, what, status); });
}

void MigrationController::act(const JobPtr& job, Step::Act what,
                              const api::PodMigrationJobStatus& status) {
  switch (what) {
    case Step::Act::kNothing:
      return;
    case Step::Act::kCreateReservation:
      return createReservation(job, status);
    case Step::Act::kEvict:
      return evictPod(job, status);
    case Step::Act::kDeleteReservation:
      return dropReservation(reservationOf(*job));
    case Step::Act::kAskToSave:
      return askToSave(job);
  }
}

// A reservation is made from the whole pod, which is asked for when one is wanted: keeping every
// pod's text for the few that move would cost more than all that decisions are made from.
void MigrationController::createReservation(const JobPtr& job,
                                            const api::PodMigrationJobStatus& status) {
  client::Request look;
  look.ref = {client::kind::kPod, job->spec.podRef->ns, job->spec.podRef->name, ""};
  busy_.insert(job->meta.name.str());
  desk_.send(std::move(look), [this, job, status](Result<client::Reply> found) {
    const std::string who = job->meta.name.str();
    busy_.erase(who);
    const auto pod = found ? api::decodeText<api::ObjectHead>(found->body)
                           : Result<api::ObjectHead>(pass(found.error()));
    const bool gone = !found && found.error().code() == Code::kNotFound;
    // One that is gone, or a namesake, is seen so by the job's next look.
    if (gone || (pod && pod->meta.uid.str() != job->spec.podRef->uid))
      return queue_.addAfter(who, kLookAgain);
    if (!pod) return again(who, pod.error(), "looking at its pod");
    createReservationFor(job, status, found->body);
  });
}

void MigrationController::createReservationFor(const JobPtr& job,
                                               const api::PodMigrationJobStatus& status,
                                               std::string_view text) {
  const auto pod = json::parse(text);
  const auto body = pod ? reservationFor(*job, *pod, desk_.clock.wall(), options_.reservation)
                        : Result<json::Value>(pass(pod.error()));
  if (!body) {
    return writeStatus(job, failedBy(status, reason::kFailedCreateReservation, body.error().text()),
                       {});
  }
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.ref = {client::kind::kReservation, "", "", ""};
  request.body = json::write(*body);
  request.repeat = client::Repeat::kSafe;
  busy_.insert(job->meta.name.str());
  desk_.send(std::move(request), [this, job, status](Result<client::Reply> made) {
    busy_.erase(job->meta.name.str());
    if (made || made.error().code() == Code::kExists) return refer(job);
    again(job->meta.name.str(), made.error(), "making its reservation");
    writeStatus(job, creationFailed(status, desk_.clock.wall(), made.error().text()), {});
  });
}

void MigrationController::refer(const JobPtr& job) {
  const JobPtr now = desk_.caches.jobs.find(job->meta.name.view());
  json::Object ref{{"apiVersion", "scheduling.koordinator.sh/v1alpha1"},
                   {"kind", "Reservation"},
                   {"name", reservationNameOf(*job)}};
  json::Object body{{"spec", json::Object{{"reservationOptions",
                                           json::Object{{"reservationRef", std::move(ref)}}}}}};
  // The version may have moved on with our own status; nobody else writes this member.
  api::PodMigrationJob any = *(now != nullptr ? now : job);
  any.meta.resourceVersion.clear();
  write(now != nullptr ? now : job, patchJob(any, std::move(body)), "naming its reservation", {});
}

void MigrationController::evictPod(const JobPtr& job, const api::PodMigrationJobStatus& status) {
  const std::string name = job->meta.name.str();
  const auto pod = desk_.caches.pods.find(podKeyOf(*job));
  if (pod == nullptr) return queue_.add(name);
  const MonoTime now = desk_.clock.mono();
  if (!evictions_.tryTake(now)) return queue_.addAfter(name, evictions_.untilNext(now));
  const int64_t replicas = desk_.caches.workloadOf(*pod).value_or(WorkloadView{}).replicas;
  busy_.insert(name);
  client::Request request = evictionOf(*pod, *job);
  request.maxTries = 1;  // a refusal is ours to repeat, at our pace
  const auto before = sidesOf(*job, pod->nodeName.view(), status.nodeName, kZeroTime);
  desk_.send(
      std::move(request), [this, job, pod, status, replicas, before](Result<client::Reply> done) {
        const std::string who = job->meta.name.str();
        busy_.erase(who);
        if (!done) {
          if (desk_.events != nullptr) {
            desk_.events->warning(refOf(*job), "FailedEvict", done.error().text());
          }
          return again(who, done.error(), "evicting its pod");
        }
        limiter_.took(*pod, replicas, desk_.clock.mono());
        queue_.forget(who);
        const JobPtr current = desk_.caches.jobs.find(who);
        const std::string message =
            fmt::format("pod {} is being evicted from {}", podKeyOf(*job), pod->nodeName.view());
        api::PodMigrationJobStatus sent = evictionSent(status, desk_.clock.wall(), message);
        if (before) openAccount(sent, *before, desk_.clock.wall());
        writeStatus(current != nullptr ? current : job, sent, {});
      });
}

void MigrationController::dropReservation(const std::string& name) {
  if (name.empty()) return;
  desk_.send(deleteReservation(name), [name](Result<client::Reply> gone) {
    if (!gone && gone.error().code() != Code::kNotFound) {
      log.warn("reservation {} is left behind: {}", name, gone.error().text());
    }
  });
}

void MigrationController::scavenge() {
  const WallTime now = desk_.clock.wall();
  desk_.caches.jobs.each([&](std::string_view key, const api::PodMigrationJob& job) {
    if (!isScavenged(job, now)) return;
    dropReservation(reservationOf(job));
    desk_.send(deleteJob(key), [](Result<client::Reply>) {});
  });
  scavenger_ = life_.later(desk_.clock, desk_.owner, kScavengeEvery, [this] {
    if (leads_) scavenge();
  });
}

// ---- writing -----------------------------------------------------------------------------------

void MigrationController::again(const std::string& name, const Error& error,
                                std::string_view what) {
  log.warn("migration {}: {}: {}", name, what, error.text());
  queue_.addRateLimited(name);
}

void MigrationController::write(const JobPtr& job, client::Request request, std::string_view what,
                                Then then) {
  const std::string name = job->meta.name.str();
  busy_.insert(name);
  desk_.send(std::move(request), [this, name, what = std::string(what),
                                  then = std::move(then)](Result<client::Reply> reply) mutable {
    busy_.erase(name);
    if (!reply) {
      if (reply.error().code() == Code::kNotFound) return;
      return again(name, reply.error(), what);
    }
    if (auto head = api::decodeText<api::ObjectHead>(reply->body)) {
      written_[name] = head->meta.resourceVersion;
    }
    queue_.add(name);
    if (then) then();
  });
}

// Onto our own last write, where the cache does not have it yet.
void MigrationController::writeStatus(const JobPtr& job, const api::PodMigrationJobStatus& status,
                                      Then then) {
  api::PodMigrationJob base;
  base.meta.name = job->meta.name;
  base.meta.resourceVersion = job->meta.resourceVersion;
  const auto ours = written_.find(job->meta.name.str());
  if (ours != written_.end() && client::surelyOlder(base.meta.resourceVersion, ours->second)) {
    base.meta.resourceVersion = ours->second;
  }
  write(job, statusPatch(base, status), "writing its status", std::move(then));
}

}  // namespace mangrove::descheduler
