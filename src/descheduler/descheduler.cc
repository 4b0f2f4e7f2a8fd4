#include "descheduler/descheduler.h"

#include <fmt/core.h>

#include "api/object/event.h"
#include "base/os/log.h"

namespace mangrove::descheduler {
namespace {

const Logger log("descheduler");

constexpr Duration kUntilFilled = std::chrono::milliseconds(100);

Result<> checkEvictors(const ProfileConfig& profile) {
  for (const auto* names : {&profile.evict, &profile.filter}) {
    for (const std::string& name : *names) {
      if (name == MigrationController::kName) continue;
      return fail(Code::kUnsupported,
                  "profile {}: {} cannot evict or filter in this version, want {}", profile.name,
                  name, MigrationController::kName);
    }
  }
  return {};
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
  Registry& metrics = *parts.metrics;
  evicted_ = &metrics.counters("descheduler_pods_evicted",
                               "Evictions asked for, by result, plugin, namespace and node.",
                               {"result", "strategy", "namespace", "node"});
  ended_ = &metrics.counters("descheduler_migrations_ended_total",
                             "PodMigrationJobs that came to an end, by outcome.", {"outcome"});
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
    if (auto ok = checkEvictors(profile); !ok) return ok;
    const auto args = profile.args.find(std::string(MigrationController::kName));
    auto read = readMigrationArgs(args == profile.args.end() ? json::Value() : args->second);
    if (!read) return read.error().in("profile {}", profile.name);
    ControllerOptions options{
        parts.reservation, parts.seed + controllers_.size(),
        [this](std::string_view outcome) { ended_->with({std::string(outcome)}).inc(); }};
    controllers_.push_back(
        std::make_unique<MigrationController>(desk_, std::move(*read), std::move(options)));
    MigrationController& controller = *controllers_.back();
    std::vector<EvictPlugin*> filters;
    if (!profile.filter.empty()) filters.push_back(&controller);
    evictors_.push_back(std::make_unique<EvictorProxy>(
        std::move(filters), controller, count_, config_.dryRun,
        [this](const api::Pod& pod, std::string_view plugin, std::string_view result) {
          evicted_
              ->with(
                  {std::string(result), std::string(plugin), pod.meta.ns.str(), pod.nodeName.str()})
              .inc();
          if (result == "success" && desk_.events != nullptr) {
            desk_.events->normal(
                api::refTo(client::kind::kPod, pod.meta), "Descheduled",
                fmt::format("{} moves it away from {}", plugin, pod.nodeName.view()));
          }
        }));
    made->evictor = evictors_.back().get();
    profiles_.push_back(std::move(*made));
  }
  return {};
}

void Descheduler::start() {
  for (auto& controller : controllers_) controller->start();
  caches_.start();
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
  if (!config_.dryRun) return controllers_.front()->lead();
  log.info("dry run: PodMigrationJobs are not carried, nobody is evicted");
}

// From start to start, so that a long cycle does not slow the rhythm. Before the caches are filled
// nothing is decided.
void Descheduler::tick() {
  if (!leads_) return;
  const MonoTime now = desk_.clock.mono();
  const bool filled = caches_.ready();
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

std::vector<Error> Descheduler::cycle() {
  const MonoTime begun = desk_.clock.mono();
  const Look look = caches_.look(desk_.clock.wall());
  for (auto& controller : controllers_) controller->beginCycle(look);
  std::vector<Error> errors =
      runCycle(look, begun, profiles_, {config_.nodeSelector, config_.dryRun}, count_, *hands_);
  for (auto& controller : controllers_) controller->endCycle();
  for (const Error& error : errors) log.warn("{}", error.text());
  cycles_.inc();
  failedCycles_.inc(static_cast<double>(errors.size()));
  cycleSeconds_.observe(std::chrono::duration<double>(desk_.clock.mono() - begun).count());
  return errors;
}

}  // namespace mangrove::descheduler
