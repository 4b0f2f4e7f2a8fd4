#include "descheduler/descheduler.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "api/object/event.h"
#include "base/os/code_pages.h"
#include "base/os/log.h"
#include "descheduler/names.h"

namespace mangrove::descheduler {
namespace {

const Logger log("descheduler");

constexpr Duration kUntilFilled = std::chrono::milliseconds(100);

json::Value argsOf(const ProfileConfig& profile, std::string_view plugin) {
  const auto found = profile.args.find(std::string(plugin));
  return found == profile.args.end() ? json::Value() : found->second;
}

bool names(const std::vector<std::string>& list, std::string_view plugin) {
  return std::find(list.begin(), list.end(), plugin) != list.end();
}

}  // namespace

// What plugins change besides evicting; merged into the objects, answers are only logged.
class Descheduler::Writer final : public Hands {
 public:
  explicit Writer(Desk& desk) : desk_(desk) {}
  bool cordon(const api::Node& node, bool on) override {
    const std::string name = node.meta.name.str();
    return send({client::kind::kNode, "", name, ""},
                json::Object{{"spec", json::Object{{"unschedulable", on}}}}, "cordon node " + name);
  }
  bool setDeletionCost(const api::Pod& pod, int32_t cost) override {
    const json::Object annotations{
        {"controller.kubernetes.io/pod-deletion-cost", std::to_string(cost)}};
    return send({client::kind::kPod, pod.meta.ns.str(), pod.meta.name.str(), ""},
                json::Object{{"metadata", json::Object{{"annotations", annotations}}}},
                "set the deletion cost of pod " + api::keyOf(pod.meta).text());
  }

 private:
  bool send(client::Ref ref, const json::Object& body, std::string what) {
    desk_.send(client::patchRequest(std::move(ref), client::PatchType::kMerge, json::write(body)),
               [what = std::move(what)](Result<client::Reply> done) {
                 if (!done) log.warn("could not {}: {}", what, done.error().text());
               });
    return true;
  }
  Desk& desk_;
};

Descheduler::Descheduler(const DeschedulerParts& parts, DeschedulerConfig config)
    : config_(std::move(config)),
      caches_({parts.client, parts.owner, parts.home, parts.clock, parts.metrics}),
      desk_{*parts.client, *parts.owner, *parts.clock, caches_, parts.events},
      count_({config_.maxPerNode, config_.maxPerNamespace, config_.maxTotal}),
      hands_(std::make_unique<Writer>(desk_)) {
  if (!parts.noticeNamespace.empty()) notice_.emplace(desk_, parts.noticeNamespace);
  Registry& metrics = *parts.metrics;
  evicted_ = &metrics.counters("descheduler_pods_evicted",
                               "Evictions asked for, by result, plugin, namespace and node.",
                               {"result", "strategy", "namespace", "node"});
  ended_ = &metrics.counters("descheduler_migrations_ended_total",
                             "PodMigrationJobs that came to an end, by outcome.", {"outcome"});
  moves_ = &metrics.counters("descheduler_moves_total",
                             "Moves begun, by what is known of their end (proven, unproven, "
                             "unplaceable) and how they go (ReservationFirst, EvictDirectly, "
                             "DefaultEvictor).",
                             {"basis", "mode"});
  cycles_ = metrics.counter("descheduler_cycles_total", "Cycles that ran.");
  failedCycles_ = metrics.counter("descheduler_cycle_errors_total",
                                  "Plugins that failed, and cycles that could not run.");
  cycleSeconds_ = metrics.histogram("descheduler_cycle_duration_seconds", "Duration of a cycle.");
}

Descheduler::~Descheduler() {
  life_.end();
  desk_.life.end();
}

Result<std::unique_ptr<Descheduler>> Descheduler::make(const DeschedulerParts& parts,
                                                       DeschedulerConfig config) {
  std::unique_ptr<Descheduler> out(new Descheduler(parts, std::move(config)));
  if (auto ok = out->furnish(parts); !ok) return pass(ok.error());
  return out;
}

Result<> Descheduler::furnish(const DeschedulerParts& parts) {
  for (const ProfileConfig& profile : config_.profiles) {
    auto made = makeProfile(profile, config_.interval);
    if (!made) return pass(made.error());
    if (auto ok = addController(profile, parts); !ok)
      return ok.error().in("profile {}", profile.name);
    if (auto ok = addEvictor(profile); !ok) return ok.error().in("profile {}", profile.name);
    made->evictor = evictors_.back().get();
    profiles_.push_back(std::move(*made));
  }
  return addForesight(parts);
}

// One engine for all profiles that want it; without any nothing more is watched.
Result<> Descheduler::addForesight(const DeschedulerParts& parts) {
  for (size_t i = 0; i < profiles_.size(); ++i) {
    if (!evictors_[i]->wantsProof()) continue;
    if (foresight_ == nullptr) {
      auto made = SchedulerForesight::make(
          caches_, {parts.client, parts.owner, parts.home, parts.clock, parts.metrics},
          parts.scheduler);
      if (!made) return made.error().in("scheduler configuration");
      foresight_ = std::move(*made);
    }
    evictors_[i]->prove(foresight_.get());
    controllers_[i]->setGangs([this](const api::Pod& pod) { return foresight_->gangOf(pod); });
    profiles_[i].foresight = foresight_.get();
  }
  return {};
}

std::string Descheduler::waitingFor() const {
  const std::string missing = caches_.waitingFor();
  return missing.empty() && foresight_ != nullptr ? foresight_->waitingFor() : missing;
}

// Each profile has one, also where it does not evict by it: jobs made by hand are carried all the same.
Result<> Descheduler::addController(const ProfileConfig& profile, const DeschedulerParts& parts) {
  auto args = readMigrationArgs(argsOf(profile, MigrationController::kName));
  if (!args) return pass(args.error());
  ControllerOptions options{
      parts.reservation, parts.seed + controllers_.size(), parts.savesFirst,
      [this](std::string_view outcome) { ended_->with({std::string(outcome)}).inc(); }};
  controllers_.push_back(
      std::make_unique<MigrationController>(desk_, std::move(*args), std::move(options)));
  return {};
}

Result<> Descheduler::addEvictor(const ProfileConfig& profile) {
  std::map<std::string, EvictPlugin*, std::less<>> known;
  known[std::string(MigrationController::kName)] = controllers_.back().get();
  if (names(profile.evict, DefaultEvictor::kName) || names(profile.filter, DefaultEvictor::kName)) {
    auto args = readDefaultEvictorArgs(argsOf(profile, DefaultEvictor::kName));
    if (!args) return pass(args.error());
    directs_.push_back(std::make_unique<DefaultEvictor>(desk_, std::move(*args)));
    known[std::string(DefaultEvictor::kName)] = directs_.back().get();
  }
  std::vector<EvictPlugin*> filters;
  for (const std::string& name : profile.filter) filters.push_back(known.at(name));
  evictors_.push_back(std::make_unique<EvictorProxy>(
      std::move(filters), *known.at(profile.evict.front()), count_, config_.dryRun,
      [this](const Eviction& eviction, std::string_view result) { counted(eviction, result); }));
  evictors_.back()->tell(journal_);
  return {};
}

void Descheduler::counted(const Eviction& eviction, std::string_view result) {
  const api::Pod& pod = eviction.pod;
  evicted_
      ->with({std::string(result), std::string(eviction.plugin), pod.meta.ns.str(),
              pod.nodeName.str()})
      .inc();
  if (result != "success") return;
  moves_->with({std::string(basisOf(eviction)), std::string(eviction.mode)}).inc();
  if (desk_.events == nullptr) return;
  const std::string where = eviction.target.empty() ? "" : fmt::format(" to {}", eviction.target);
  desk_.events->normal(
      api::refTo(client::kind::kPod, pod.meta), "Descheduled",
      fmt::format("{} moves it away from {}{}", eviction.plugin, pod.nodeName.view(), where));
}

void Descheduler::start() {
  for (auto& controller : controllers_) controller->start();
  caches_.start();
  if (foresight_ != nullptr) foresight_->start();
}

// Jobs are carried by one controller, whoever made them: that of the first profile.
void Descheduler::lead() {
  leads_ = true;
  nextAt_ = desk_.clock.mono();
  tick();
}

void Descheduler::yield() {
  leads_ = begun_ = false;
  timer_.reset();
  controllers_.front()->yield();
}

// In a dry run jobs are left where they are: whoever made one by hand meant somebody who acts.
void Descheduler::begin() {
  begun_ = true;
  releaseUnusedMemory();  // of the first lists
  if (!config_.dryRun) return controllers_.front()->lead();
  log.info("dry run: PodMigrationJobs are not carried, nobody is evicted");
}

// From start to start, so that a long cycle does not slow the rhythm. Before the caches are filled
// nothing is decided.
void Descheduler::tick() {
  if (!leads_) return;
  const MonoTime now = desk_.clock.mono();
  const bool filled = waitingFor().empty();
  bool goesOn = true;
  if (!filled) {
    nextAt_ = now + kUntilFilled;
  } else {
    if (!begun_) begin();
    cycle();
    goesOn = config_.interval > Duration::zero();
    while (goesOn && nextAt_ <= now) nextAt_ += config_.interval;
  }
  if (!goesOn) return;
  timer_ = desk_.clock.at(nextAt_, [this, life = life_.token(), owner = &desk_.owner] {
    owner->post(life.guard([this] { tick(); }));
  });
}

// Proven moves that have begun: their ends are known.
std::vector<UnderWay> Descheduler::underWay() const {
  std::vector<UnderWay> out;
  if (foresight_ == nullptr) return out;
  caches_.jobs.each([&](std::string_view, const api::PodMigrationJob& job) {
    const auto target = job.meta.annotations.get(key::kTarget);
    if (!target || job.status.isFinished() || !job.spec.podRef) return;
    const auto pod = caches_.pods.find(job.spec.podRef->ns, job.spec.podRef->name);
    if (pod == nullptr || pod->meta.uid.str() != job.spec.podRef->uid) return;
    const auto& options = job.spec.reservationOptions;
    const auto kept = options && options->reservationRef
                          ? caches_.reservations.find(options->reservationRef->name)
                          : nullptr;
    const bool stands = kept != nullptr && kept->status.phase == api::reservation_phase::kAvailable;
    out.push_back({pod.get(), std::string(*target), stands});
  });
  return out;
}

// What is wrong stays wrong for many cycles; it is said when it begins.
void Descheduler::tellOnce(const std::vector<Error>& errors) {
  std::set<std::string> now;
  for (const Error& error : errors) {
    now.insert(error.text());
    if (told_.contains(error.text())) continue;
    // One machine has nothing to move to, and nothing is wrong with it.
    error.code() == Code::kUnavailable ? log.info("{}", error.text())
                                       : log.warn("{}", error.text());
  }
  told_ = std::move(now);
}

std::vector<Error> Descheduler::cycle() {
  const MonoTime begun = desk_.clock.mono();
  const Look look = caches_.look(desk_.clock.wall());
  for (auto& controller : controllers_) controller->beginCycle(look);
  for (auto& direct : directs_) direct->beginCycle(look);
  journal_.begin();
  const std::vector<UnderWay> moving = underWay();
  if (foresight_ != nullptr) foresight_->beginCycle(moving);
  std::vector<Error> errors = runCycle(
      look, begun, profiles_, {config_.nodeSelector, config_.dryRun, moving}, count_, *hands_);
  if (foresight_ != nullptr) foresight_->endCycle();
  for (auto& controller : controllers_) controller->endCycle();
  for (auto& direct : directs_) direct->endCycle();
  tellOnce(errors);
  if (begun_ && notice_) notice_->tell(journal_.refused());
  cycles_.inc();
  failedCycles_.inc(static_cast<double>(errors.size()));
  cycleSeconds_.observe(std::chrono::duration<double>(desk_.clock.mono() - begun).count());
  return errors;
}

}  // namespace mangrove::descheduler
