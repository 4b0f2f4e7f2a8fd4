#include "runtime/core/pod_actions.h"

#include <algorithm>

#include "runtime/core/restart.h"

namespace mangrove::runtime {

namespace {

class Decision {
 public:
  Decision(const RunPod& pod, const PodRecord& record, WallTime now)
      : pod_(pod), record_(record), now_(now), containers_(containersOf(pod)) {}

  PodActions make() {
    watchDeadline();
    if (mustEnd()) {
      endAll();
      return std::move(next_);
    }
    if (!initsDone()) return finishSetup();
    const bool mainsOver = startMains();
    if (mainsOver) endAll();
    if (!mainsOver) startEphemerals();
    return finishSetup();
  }

 private:
  enum class Outcome { kGoOn, kWait, kFailed };

  bool mustEnd() const {
    return pod_.pod.meta.isDeleting() || !record_.failReason.empty() || next_.deadlinePassed;
  }

  void watchDeadline() {
    const auto& limit = pod_.pod.spec->activeDeadlineSeconds;
    if (!limit || record_.startTime == kZeroTime) return;
    const WallTime at = record_.startTime + std::chrono::seconds(*limit);
    if (now_ >= at) {
      next_.deadlinePassed = true;
    } else {
      wakeBy(at);
    }
  }

  void wakeBy(WallTime at) {
    if (!next_.wakeAt || at < *next_.wakeAt) next_.wakeAt = at;
  }

  PodActions finishSetup() {
    if (!next_.start.empty() && !record_.sandbox) next_.makeSandbox = true;
    return std::move(next_);
  }

  const ContainerRecord& recordOf(const ContainerSpec& container) const {
    static const ContainerRecord kNew;
    const ContainerRecord* found = record_.find(container.name());
    return found ? *found : kNew;
  }

  static bool alive(const ContainerRecord& r) { return r.running || r.starting; }

  // Everything stops: ordinary containers at once, then sidecars one after the other, the last one
  // first.
  void endAll() {
    bool mainsAlive = false;
    for (const auto& container : containers_) {
      const auto& r = recordOf(container);
      if (container.role == ContainerRole::kSidecar || !alive(r)) continue;
      mainsAlive = true;
      if (!r.stopping) next_.stop.emplace_back(container.name());
    }
    next_.over = !mainsAlive && endSidecars();
  }

  bool endSidecars() {
    for (auto it = containers_.rbegin(); it != containers_.rend(); ++it) {
      const auto& r = recordOf(*it);
      if (it->role != ContainerRole::kSidecar || !alive(r)) continue;
      if (!r.stopping) next_.stop.emplace_back(it->name());
      return false;
    }
    return true;
  }

  // Starts it now or when its back-off is over.
  void startOrHold(const ContainerSpec& container, const ContainerRecord& r) {
    const WallTime due =
        r.last ? r.last->finishedAt +
                     std::chrono::duration_cast<std::chrono::microseconds>(backOff(r.crashes - 1))
               : kZeroTime;
    if (due > now_) {
      next_.held.emplace_back(container.name());
      return wakeBy(due);
    }
    next_.start.emplace_back(container.name());
  }

  Outcome init(const ContainerSpec& container) {
    const auto& r = recordOf(container);
    if (alive(r)) return Outcome::kWait;
    if (r.last && r.last->exitCode == 0) return Outcome::kGoOn;
    if (r.last && !restarts(pod_.pod.spec->restartPolicy, container.role, *r.last))
      return Outcome::kFailed;
    startOrHold(container, r);
    return Outcome::kWait;
  }

  Outcome sidecar(const ContainerSpec& container) {
    const auto& r = recordOf(container);
    if (!alive(r)) startOrHold(container, r);
    if (record_.hasInited) return Outcome::kGoOn;
    return r.running && r.started ? Outcome::kGoOn : Outcome::kWait;
  }

  bool initsDone() {
    for (const auto& container : containers_) {
      if (container.role == ContainerRole::kMain) break;
      if (container.role == ContainerRole::kInit && record_.hasInited) continue;
      const Outcome outcome =
          container.role == ContainerRole::kSidecar ? sidecar(container) : init(container);
      if (outcome == Outcome::kFailed) endAll();
      if (outcome != Outcome::kGoOn) return false;
    }
    return true;
  }

  // True when every ordinary container has ended for good.
  bool startMains() {
    bool over = true;
    for (const auto& container : containers_) {
      if (container.role != ContainerRole::kMain) continue;
      const auto& r = recordOf(container);
      if (alive(r)) {
        over = false;
        continue;
      }
      if (r.last && !restarts(pod_.pod.spec->restartPolicy, container.role, *r.last)) continue;
      over = false;
      startOrHold(container, r);
    }
    return over;
  }

  // Guests of a pod that is there already.
  void startEphemerals() {
    if (!record_.sandbox) return;
    for (const auto& container : containers_) {
      const bool guest = container.role == ContainerRole::kEphemeral;
      if (guest && !recordOf(container).everRan()) next_.start.emplace_back(container.name());
    }
  }

  const RunPod& pod_;
  const PodRecord& record_;
  const WallTime now_;
  const std::vector<ContainerSpec> containers_;
  PodActions next_;
};

}  // namespace

PodActions decide(const RunPod& pod, const PodRecord& record, WallTime now) {
  return Decision(pod, record, now).make();
}

}  // namespace mangrove::runtime
