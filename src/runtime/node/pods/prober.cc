#include "runtime/node/pods/prober.h"

#include <algorithm>

namespace mangrove::runtime {

void Prober::begin(const std::string& container) {
  stop(container);
  const ContainerSpec* spec = desk_.specOf(container);
  if (!spec) return;
  if (spec->run->startup) return start(container, ProbeKind::kStartup, *spec->run->startup);
  startupPassed(container);
}

void Prober::startupPassed(const std::string& container) {
  watches_.erase({container, ProbeKind::kStartup});
  const ContainerSpec* spec = desk_.specOf(container);
  if (!spec) return;
  if (spec->run->readiness) start(container, ProbeKind::kReadiness, *spec->run->readiness);
  if (spec->run->liveness) start(container, ProbeKind::kLiveness, *spec->run->liveness);
}

void Prober::stop(const std::string& container) {
  for (ProbeKind kind : {ProbeKind::kStartup, ProbeKind::kReadiness, ProbeKind::kLiveness})
    watches_.erase({container, kind});
}

void Prober::start(const std::string& container, ProbeKind kind, const api::Probe& probe) {
  auto watch = std::make_shared<Watch>();
  watch->probe = probe;
  watches_[{container, kind}] = watch;
  schedule(container, kind, std::chrono::seconds(probe.initialDelaySeconds));
}

void Prober::schedule(const std::string& container, ProbeKind kind, Duration delay) {
  auto found = watches_.find({container, kind});
  if (found == watches_.end()) return;
  std::weak_ptr<Watch> weak = found->second;
  found->second->timer =
      life_.later(desk_.clock, desk_.owner, delay, [this, weak, container, kind] {
        if (!weak.expired()) ask(container, kind);
      });
}

void Prober::ask(const std::string& container, ProbeKind kind) {
  auto found = watches_.find({container, kind});
  if (found == watches_.end()) return;
  std::weak_ptr<Watch> weak = found->second;
  const api::Probe& probe = found->second->probe;
  desk_.ask(container, probe.action, std::chrono::seconds(std::max(probe.timeoutSeconds, 1)),
            life_.guard([this, weak, container, kind](ActionResult result) {
              if (!weak.expired()) answered(container, kind, std::move(result));
            }));
}

// Tells last: whoever hears of it may stop the watch, or end us.
void Prober::answered(const std::string& container, ProbeKind kind, ActionResult result) {
  auto watch = watches_[{container, kind}];
  const api::Probe& probe = watch->probe;
  const bool verdict = result.good ? watch->count.passed(std::max(probe.successThreshold, 1))
                                   : watch->count.failed(std::max(probe.failureThreshold, 1));
  schedule(container, kind, std::chrono::seconds(std::max(probe.periodSeconds, 1)));
  desk_.told(container, {kind, result.good, verdict, std::move(result.output)});
}

}  // namespace mangrove::runtime
