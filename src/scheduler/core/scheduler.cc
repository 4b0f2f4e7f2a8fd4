#include "scheduler/core/scheduler.h"

#include <mutex>

#include "base/log.h"
#include "scheduler/core/api_effects.h"
#include "scheduler/core/engine.h"
#include "scheduler/core/watches.h"

namespace mangrove::scheduler {

namespace {

const Logger log("scheduler");

// How long one message of the owner's thread may decide before others get their turn: answers and
// watch events keep flowing while tens of thousands of pods wait.
constexpr Duration kSlice = std::chrono::milliseconds(2);
constexpr Duration kTick = std::chrono::seconds(1);

}  // namespace

class Scheduler::Impl : public std::enable_shared_from_this<Scheduler::Impl> {
 public:
  explicit Impl(SchedulerSetup setup)
      : setup_(std::move(setup)),
        effects_(setup_.client, setup_.owner, setup_.home, setup_.clock, setup_.metrics),
        engine_(setup_.clock, effects_, setup_.metrics) {
    tether_->owner = &setup_.owner;
  }

  Result<> configure() { return engine_.configure(setup_.config); }

  void start() {
    watches_ = std::make_unique<Watches>(
        WatchSetup{setup_.client, setup_.owner, setup_.home, setup_.clock, setup_.seed}, engine_,
        [this] { wakeUp(); });
    engine_.onProgress([this] { wakeUp(); });
    effects_.onIdle([this] { wakeUp(); });
    watches_->start();
    armTick();
  }

  void setActive(bool active) {
    active_ = active;
    wakeUp();
  }

  bool synced() const { return watches_ && watches_->synced(); }

  void stop(Fn done) {
    active_ = false;
    stopped_ = std::move(done);
    finishStop();
  }

  void shutDown() {
    tick_.reset();
    {
      std::lock_guard lock(tether_->mutex);
      tether_->owner = nullptr;
    }
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
    if (!ready) return;
    const MonoTime until = setup_.clock.mono() + kSlice;
    while (engine_.ready() && engine_.binding() < setup_.maxBindings) {
      engine_.scheduleOne();
      if (setup_.clock.mono() >= until) break;
    }
    if (engine_.ready() && engine_.binding() < setup_.maxBindings) wakeUp();
    finishStop();
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
    engine_.tick();
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
  std::unique_ptr<Watches> watches_;
  Timer tick_;
  std::function<void()> filled_;
  Fn stopped_;
  bool active_ = false;
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
bool Scheduler::synced() const {
  return impl_->synced();
}
void Scheduler::stop(Fn done) {
  impl_->stop(std::move(done));
}
Engine& Scheduler::engine() {
  return impl_->engine();
}

}  // namespace mangrove::scheduler
