#include "runtime/node/pods/prober.h"

#include <algorithm>

#include "runtime/node/pods/action.h"

namespace mangrove::runtime {

bool ProbeCount::passed(int threshold) {
  bad = 0;
  return ++good >= threshold;
}

bool ProbeCount::failed(int threshold) {
  good = 0;
  return ++bad >= threshold;
}

void Prober::begin(const std::string& container) {
  stop(container);
  const ContainerSpec* spec = worker_.specOf(container);
  if (!spec) return;
  if (spec->run->startup) return start(container, Kind::kStartup, *spec->run->startup);
  startupPassed(container);
}

void Prober::startupPassed(const std::string& container) {
  watches_.erase({container, Kind::kStartup});
  const ContainerSpec* spec = worker_.specOf(container);
  if (!spec) return;
  if (spec->run->readiness) start(container, Kind::kReadiness, *spec->run->readiness);
  if (spec->run->liveness) start(container, Kind::kLiveness, *spec->run->liveness);
}

void Prober::stop(const std::string& container) {
  for (Kind kind : {Kind::kStartup, Kind::kReadiness, Kind::kLiveness})
    watches_.erase({container, kind});
}

void Prober::start(const std::string& container, Kind kind, const api::Probe& probe) {
  auto watch = std::make_shared<Watch>();
  watch->probe = probe;
  watches_[{container, kind}] = watch;
  schedule(container, kind, std::chrono::seconds(probe.initialDelaySeconds));
}

void Prober::schedule(const std::string& container, Kind kind, Duration delay) {
  auto found = watches_.find({container, kind});
  if (found == watches_.end()) return;
  WorkerParts& parts = worker_.parts();
  std::weak_ptr<Watch> weak = found->second;
  found->second->timer = parts.clock.after(delay, [&owner = parts.owner, weak, container, kind,
                                                   worker = worker_.weak_from_this(), this] {
    owner.post([weak, container, kind, worker, this] {
      auto alive = worker.lock();
      if (alive && weak.lock()) ask(container, kind);
    });
  });
}

void Prober::ask(const std::string& container, Kind kind) {
  auto found = watches_.find({container, kind});
  if (found == watches_.end()) return;
  std::weak_ptr<Watch> weak = found->second;
  const api::Probe& probe = found->second->probe;
  runAction(worker_.shared_from_this(), container, probe.action,
            std::chrono::seconds(std::max(probe.timeoutSeconds, 1)),
            [this, weak, container, kind, worker = worker_.weak_from_this()](ActionResult result) {
              auto alive = worker.lock();
              if (alive && weak.lock()) answered(container, kind, result);
            });
}

void Prober::answered(const std::string& container, Kind kind, const ActionResult& result) {
  auto watch = watches_[{container, kind}];
  const api::Probe& probe = watch->probe;
  const bool verdict = result.good ? watch->count.passed(std::max(probe.successThreshold, 1))
                                   : watch->count.failed(std::max(probe.failureThreshold, 1));
  schedule(container, kind, std::chrono::seconds(std::max(probe.periodSeconds, 1)));
  worker_.probed(container, kind, result.good, verdict, result.output);
}

}  // namespace mangrove::runtime
