// The MigrationController's accounts: both nodes and the pod before a move and after it.
#include "descheduler/migration/controller.h"

namespace mangrove::descheduler {
namespace {

constexpr auto kAccountAfter = std::chrono::minutes(2);
constexpr Duration kAccountAgain = std::chrono::seconds(15);

}  // namespace

// Both nodes as they were last measured; nullopt: one of them was not, since then.
std::optional<Sides> MigrationController::sidesOf(const api::PodMigrationJob& job,
                                                  std::string_view source, std::string_view target,
                                                  WallTime since) const {
  const auto shares = [&](std::string_view name) {
    return sharesOf(desk_.caches.nodes.find(name).get(), desk_.caches.metrics.find(name).get(),
                    since);
  };
  const auto from = shares(source), to = shares(target);
  if (!from || !to) return std::nullopt;
  const bool arrived = job.status.podRef.has_value();
  const auto& pod = arrived ? job.status.podRef : job.spec.podRef;
  const auto metric = desk_.caches.metrics.find(arrived ? target : source);
  Sides out{*from, *to};
  if (!pod) return out;
  out.pod = factsOf(metric.get(), pod->ns, pod->name);
  if (const auto seen = desk_.caches.pods.find(pod->ns, pod->name))
    out.pod.latency = latencyOf(*seen);
  return out;
}

// Once both nodes have been measured with the new pod at work.
void MigrationController::settleAccount(const JobPtr& job) {
  const auto account = accountOf(job->status);
  const auto* ready = conditionOf(job->status.conditions, condition::kBoundPodReady);
  if (!account || account->after || ready == nullptr) return;
  const WallTime due = ready->lastTransitionTime + kAccountAfter;
  const WallTime now = desk_.clock.wall();
  const auto after = sidesOf(*job, account->before.source.node, account->before.target.node, due);
  if (!after)
    return queue_.addAfter(job->meta.name.view(), std::max<Duration>(kAccountAgain, due - now));
  api::PodMigrationJobStatus status = job->status;
  closeAccount(status, *after, now);
  writeStatus(job, status, {});
}

}  // namespace mangrove::descheduler
