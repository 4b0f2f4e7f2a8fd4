#include "client/queue/fair_limiter.h"

#include <algorithm>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "client/queue/token_bucket.h"

namespace mangrove::client {

struct FairLimiter::State : std::enable_shared_from_this<FairLimiter::State> {
  struct Waiter {
    MonoTime deadline;
    Go go;
  };
  struct Flow {
    std::string name;
    std::deque<Waiter> line;
  };
  struct Verdicts {  // collected under the lock, called without it
    std::vector<std::pair<Go, bool>> calls;
    void deliver() {
      for (auto& [go, inTime] : calls) go(inTime);
    }
  };

  State(Clock& clock, double perSecond, double burst) : clock_(clock), bucket_(perSecond, burst) {}

  void admit(std::string_view name, MonoTime deadline, Go go) {
    bool now = false;
    {
      std::lock_guard lock(mutex_);
      now = flows_.empty() && bucket_.tryTake(clock_.mono());
      if (!now) {
        flowNamed(name).line.push_back({deadline, std::move(go)});
        ++waiting_;
        armLocked(deadline);
      }
    }
    if (now) go(true);
  }

  Flow& flowNamed(std::string_view name) {
    for (Flow& flow : flows_)
      if (flow.name == name) return flow;
    flows_.push_back({std::string(name), {}});
    return flows_.back();
  }

  // Wakes us at `when`, or earlier if a token comes earlier.
  void armLocked(MonoTime when) {
    MonoTime now = clock_.mono();
    MonoTime next = std::min(when, now + bucket_.untilNext(now));
    if (armedFor_ && *armedFor_ <= next) return;
    armedFor_ = next;
    timer_ = clock_.at(next, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->turn();
    });
  }

  MonoTime firstDeadline() const {
    MonoTime first = MonoTime::max();
    for (const Flow& flow : flows_)
      for (const Waiter& waiter : flow.line) first = std::min(first, waiter.deadline);
    return first;
  }

  void turn() {
    Verdicts verdicts;
    {
      std::lock_guard lock(mutex_);
      armedFor_.reset();
      MonoTime now = clock_.mono();
      dropLate(now, verdicts);
      while (!flows_.empty() && bucket_.tryTake(now)) serveNext(verdicts);
      if (!flows_.empty()) armLocked(firstDeadline());
    }
    verdicts.deliver();
  }

  // The front flow gives its first waiter and goes to the back of the ring.
  void serveNext(Verdicts& verdicts) {
    Flow& flow = flows_.front();
    verdicts.calls.emplace_back(std::move(flow.line.front().go), true);
    flow.line.pop_front();
    --waiting_;
    if (flow.line.empty()) {
      flows_.pop_front();
    } else {
      flows_.splice(flows_.end(), flows_, flows_.begin());
    }
  }

  void dropLate(MonoTime now, Verdicts& verdicts) {
    for (auto flow = flows_.begin(); flow != flows_.end();) {
      for (auto at = flow->line.begin(); at != flow->line.end();) {
        if (at->deadline > now) {
          ++at;
          continue;
        }
        verdicts.calls.emplace_back(std::move(at->go), false);
        at = flow->line.erase(at);
        --waiting_;
      }
      flow = flow->line.empty() ? flows_.erase(flow) : std::next(flow);
    }
  }

  void close() {
    Verdicts verdicts;
    Timer cancelled;
    {
      std::lock_guard lock(mutex_);
      dropLate(MonoTime::max(), verdicts);
      cancelled = std::move(timer_);
    }
    verdicts.deliver();
  }

  Clock& clock_;
  mutable std::mutex mutex_;
  TokenBucket bucket_;
  std::list<Flow> flows_;  // only flows somebody waits in; the front one is next
  size_t waiting_ = 0;
  std::optional<MonoTime> armedFor_;
  Timer timer_;
};

FairLimiter::FairLimiter(Clock& clock, double perSecond, double burst)
    : state_(std::make_shared<State>(clock, perSecond, burst)) {}

FairLimiter::~FairLimiter() {
  state_->close();
}

void FairLimiter::admit(std::string_view flow, MonoTime deadline, Go go) {
  state_->admit(flow, deadline, std::move(go));
}

size_t FairLimiter::waiting() const {
  std::lock_guard lock(state_->mutex_);
  return state_->waiting_;
}

}  // namespace mangrove::client
