#include "scheduler/scheduler.h"

#include <algorithm>
#include <mutex>

#include "api/wire/kind.h"
#include "base/os/log.h"
#include "client/informer/json_slices.h"
#include "client/informer/resource_version.h"
#include "json/view.h"
#include "placement/engine/engine.h"
#include "scheduler/effects/api_effects.h"
#include "scheduler/explain/explanations.h"
#include "scheduler/watch/bunched_watches.h"
#include "scheduler/watch/watches.h"

namespace mangrove::scheduler {

namespace {

const Logger log("scheduler");

// How long one message of the owner's thread may decide before others get their turn: answers and
// watch events keep flowing while tens of thousands of pods wait.
constexpr Duration kSlice = std::chrono::milliseconds(2);
constexpr Duration kLongestCatchUp = std::chrono::seconds(10);
constexpr Duration kTick = std::chrono::seconds(1);

}  // namespace

class Scheduler::Impl : public std::enable_shared_from_this<Scheduler::Impl> {
 public:
  explicit Impl(SchedulerSetup setup)
      : setup_(std::move(setup)),
        effects_(setup_.client, setup_.owner, setup_.home, setup_.clock, setup_.metrics),
        engine_(setup_.clock, effects_, setup_.metrics),
        watched_(setup_.client, [answers = effects_.answers()] { return answers->isBusy(); }) {
    tether_->owner = &setup_.owner;
    effects_.answers()->onBunch([this] { watched_.flush(); });
    if (setup_.victimsSave) effects_.letVictimsSave();
  }

  Result<> configure() {
    engine_.seed(setup_.seed);
    return engine_.configure(setup_.config);
  }

  void start() {
    watches_ =
        std::make_unique<Watches>(WatchSetup{watched_, setup_.owner, setup_.home, setup_.clock,
                                             setup_.seed, setup_.config.transforms},
                                  engine_, [this] { wakeUp(); });
    engine_.onProgress([this] { wakeUp(); });
    effects_.onAnswer([this] { wakeUp(); });
    watches_->start();
    explanations_ = std::make_unique<Explanations>(
        ExplanationSetup{setup_.client, setup_.owner, setup_.home, setup_.clock, setup_.seed},
        engine_);
    explanations_->start();
    armTick();
  }

  void setActive(bool active) {
    active_ = active;
    if (active)
      catchUp();
    else
      effects_.dropStatuses();
    wakeUp();
  }

  void hold(bool held) {
    held_ = held;
    wakeUp();
  }

  bool synced() const { return watches_ && watches_->synced(); }

  bool idle() const { return engine_.binding() == 0 && effects_.idle(); }

  void stop(Fn done) {
    active_ = false;
    effects_.dropStatuses();
    stopped_ = std::move(done);
    finishStop();
  }

  void shutDown() {
    tick_.reset();
    {
      std::lock_guard lock(tether_->mutex);
      tether_->owner = nullptr;
    }
    explanations_.reset();
    watches_.reset();
    alive_ = false;
  }

  void onFilled(std::function<void()> fn) { filled_ = std::move(fn); }
  Engine& engine() { return engine_; }

 private:
  void wakeUp() {
    if (posted_ || !alive_) return;
    posted_ = true;
    setup_.owner.post([self = weak_from_this()] {
      if (auto me = self.lock(); me && me->alive_) me->decide();
    });
  }

  void decide() {
    posted_ = false;
    const bool ready = readyToDecide();  // also told while another one leads
    if (!active_) return finishStop();
    if (!ready || !caughtUp()) return;
    if (begun_ && engine_.hasNews()) engine_.report();
    const MonoTime until = setup_.clock.mono() + kSlice;
    while (mayDecide()) {
      engine_.scheduleOne();
      if (setup_.clock.mono() >= until) break;
    }
    if (mayDecide()) wakeUp();
    finishStop();
  }

  // Decisions that need other writes than a binding (conditions, victims) wait for the server too.
  bool mayDecide() const {
    return !held_ && engine_.ready() && engine_.binding() < setup_.maxBindings &&
           effects_.pending() < setup_.maxBindings;
  }

  bool readyToDecide() {
    if (begun_) return true;
    begun_ = synced();
    if (begun_ && filled_) filled_();
    if (begun_)
      log.info("caches are filled: {} nodes, {} pods with a node", engine_.cluster().table.size(),
               engine_.cluster().podCount());
    return begun_;
  }

  // The one who led before us may have bound pods or placed reservations that our watch has not
  // shown yet, and a room we believe free is not. So both are listed once more, and nothing is
  // decided before the watch has come as far; an object of that list that goes again at once must
  // not hold us for ever.
  void catchUp() {
    targets_ = {};
    round_++;
    client::Request pods;
    pods.ref = {api::kind::kPod, "", ""};
    pods.query.fieldSelector = "spec.nodeName!=";  // who waits takes no room
    listUpTo(std::move(pods), &Targets::pod);
    if (!keepsReservations()) {
      targets_.reservation = 0;
      return;
    }
    client::Request reservations;
    reservations.ref = {api::kind::kReservation, "", ""};
    listUpTo(std::move(reservations), &Targets::reservation);
  }

  bool keepsReservations() const {
    return std::ranges::any_of(engine_.profiles(),
                               [](const auto& profile) { return profile->find("Reservation"); });
  }

  struct Targets {  // versions to be seen before anything is decided
    std::optional<uint64_t> pod, reservation;
  };
  void listUpTo(client::Request request, std::optional<uint64_t> Targets::*target) {
    request.verb = client::Verb::kList;
    request.maxTries = 1000;
    const uint64_t round = round_;
    setup_.client.submit(setup_.owner, std::move(request),
                         [self = weak_from_this(), round, target](Result<client::Reply> reply) {
                           auto me = self.lock();
                           if (!me || !me->alive_ || round != me->round_ || !me->active_) return;
                           me->listed(reply, target);
                         });
  }

  // A server that does not know the kind, or does not show it, has none of it for us.
  void listed(const Result<client::Reply>& reply, std::optional<uint64_t> Targets::*target) {
    const bool isUnknown = !reply && (reply.error().code() == mangrove::Code::kNotFound ||
                                      reply.error().code() == mangrove::Code::kDenied);
    if (!reply && !isUnknown) {
      log.warn("looking for decisions of the leader before: {}", reply.error().text());
      return catchUp();
    }
    targets_.*target = isUnknown ? 0 : newestOf(reply->body);
    giveUpAt_ = setup_.clock.mono() + kLongestCatchUp;
    wakeUp();
  }

  static uint64_t newestOf(const std::string& body) {
    uint64_t newest = 0;
    const auto list = client::sliceList(body);
    if (!list) return 0;
    json::Doc doc;
    for (std::string_view item : list->items)
      if (const auto pod = doc.parse(item)) {
        const auto version = (*pod)["metadata"]["resourceVersion"].string().value_or("");
        newest = std::max(newest, client::versionNumber(version).value_or(0));
      }
    return newest;
  }

  bool caughtUp() {
    if (!targets_.pod || !targets_.reservation) return false;
    const bool seen = watches_->newestPod() >= *targets_.pod &&
                      watches_->newestReservation() >= *targets_.reservation;
    return seen || setup_.clock.mono() >= giveUpAt_;
  }

  void armTick() {
    tick_ = setup_.clock.after(kTick, [tether = tether_, self = weak_from_this()] {
      std::lock_guard lock(tether->mutex);
      if (!tether->owner) return;
      tether->owner->post([self] {
        if (auto me = self.lock(); me && me->alive_) me->onTick();
      });
    });
  }

  void onTick() {
    effects_.tick();
    engine_.tick();
    if (active_ && begun_) {
      engine_.report();
      explanations_->tick();
    }
    wakeUp();
    finishStop();
    armTick();
  }

  void finishStop() {
    if (stopped_ && engine_.binding() == 0 && effects_.pending() == 0)
      std::exchange(stopped_, nullptr)();
  }

  // What the clock's thread may use: a callback that runs already is not waited for.
  struct Tether {
    std::mutex mutex;
    Mailbox* owner;
  };

  SchedulerSetup setup_;
  std::shared_ptr<Tether> tether_ = std::make_shared<Tether>();
  ApiEffects effects_;
  Engine engine_;
  BunchedWatches watched_;
  std::unique_ptr<Watches> watches_;
  std::unique_ptr<Explanations> explanations_;
  Timer tick_;
  std::function<void()> filled_;
  Fn stopped_;
  uint64_t round_ = 0;
  Targets targets_;
  MonoTime giveUpAt_{};
  bool active_ = false;
  bool held_ = false;
  bool begun_ = false;
  bool posted_ = false;
  bool alive_ = true;
};

Scheduler::Scheduler(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Scheduler::~Scheduler() {
  impl_->shutDown();
}

Result<std::unique_ptr<Scheduler>> Scheduler::make(SchedulerSetup setup) {
  auto impl = std::make_shared<Impl>(std::move(setup));
  if (auto ok = impl->configure(); !ok) return pass(ok.error());
  return std::unique_ptr<Scheduler>(new Scheduler(std::move(impl)));
}

void Scheduler::start() {
  impl_->start();
}
void Scheduler::setActive(bool active) {
  impl_->setActive(active);
}
void Scheduler::onFilled(std::function<void()> fn) {
  impl_->onFilled(std::move(fn));
}
void Scheduler::hold(bool held) {
  impl_->hold(held);
}

bool Scheduler::synced() const {
  return impl_->synced();
}

bool Scheduler::idle() const {
  return impl_->idle();
}
void Scheduler::stop(Fn done) {
  impl_->stop(std::move(done));
}
Engine& Scheduler::engine() {
  return impl_->engine();
}

}  // namespace mangrove::scheduler
