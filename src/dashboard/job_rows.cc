#include "dashboard/job_rows.h"

#include <algorithm>

#include "api/annotations/checkpoint.h"
#include "api/annotations/gang.h"
#include "api/pod/classes.h"
#include "base/text/time_text.h"
#include "stakes/stake.h"

namespace mangrove::dashboard {
namespace {

constexpr double kHour = 3600;

bool isBatch(const api::Pod& pod) {
  return api::rawQos(pod.meta.labels) == api::Qos::kBe;
}

// What can be seen of a job now.
struct Sight {
  int64_t alive = 0, waiting = 0;
  std::string gang;
  std::optional<WallTime> saved;
};

void add(const api::Pod& pod, Sight& sight) {
  if (pod.status.phase == api::PodPhase::kRunning) sight.alive++;
  if (pod.status.phase == api::PodPhase::kPending) sight.waiting++;
  const auto gang = api::gangNameOf(pod.meta.labels, pod.meta.annotations);
  if (!gang.empty()) sight.gang = pod.meta.ns.str() + "/" + std::string(gang);
  const auto last = api::saidCheckpoint(pod.meta.annotations).last;
  if (last) sight.saved = std::min(sight.saved.value_or(*last), *last);
}

json::Object rowOf(const report::BatchAccount& account, const Sight& sight, WallTime now) {
  json::Object out{{"tenant", account.tenant},
                   {"job", account.job},
                   {"kind", account.kind},
                   {"gang", sight.gang},
                   {"alive", sight.alive},
                   {"waiting", sight.waiting},
                   {"done", account.finished},
                   {"failed", account.failed},
                   {"evicted", account.evicted},
                   {"lost", account.lostSeconds / kHour},
                   {"sold", account.soldSeconds / kHour},
                   {"used", account.usedSeconds / kHour},
                   {"saved", nullptr}};
  if (sight.saved)
    out["saved"] = std::max(0.0, std::chrono::duration<double>(now - *sight.saved).count());
  return out;
}

}  // namespace

void feedLedger(const ClusterView& view, WallTime now, report::BatchLedger& ledger) {
  std::vector<const api::Pod*> pods;
  for (const auto& pod : view.pods)
    if (isBatch(*pod)) pods.push_back(pod.get());
  report::BatchLedger::Usage usage;
  for (const auto& [node, metric] : view.metrics)
    for (const api::PodMetric& one : metric->status.podsMetric)
      usage[one.ns.str() + "/" + one.name.str()] =
          static_cast<double>(one.podUsage.resources.cpu().v) / 1000;
  ledger.look(pods, usage, {}, now);
}

json::Object jobBoard(const ClusterView& view, const report::BatchLedger& ledger, WallTime now) {
  std::map<std::string, Sight> sights;
  for (const auto& pod : view.pods)
    if (isBatch(*pod)) add(*pod, sights[stakes::jobOf(*pod)]);
  json::Array jobs;
  for (const report::BatchAccount& account : ledger.accounts())
    jobs.push_back(rowOf(account, sights[account.job], now));
  return {{"since", formatTime(ledger.since())}, {"jobs", std::move(jobs)}};
}

}  // namespace mangrove::dashboard
