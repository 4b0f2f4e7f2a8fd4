#include "descheduler/migration/arbitrate.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "descheduler/order/pod_order.h"

namespace mangrove::descheduler {
namespace {

using Jobs = std::vector<const JobView*>;

// The batch Job that controls the pod; "" for all others.
std::string batchJobOf(const JobView& job) {
  const api::OwnerReference* owner = job.pod == nullptr ? nullptr : job.pod->meta.controller();
  return owner != nullptr && owner->kind == "Job" ? owner->uid.str() : std::string();
}

int64_t secondOf(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

void newestFirst(Jobs& jobs) {
  std::stable_sort(jobs.begin(), jobs.end(), [](const JobView* a, const JobView* b) {
    return secondOf(a->created) > secondOf(b->created);
  });
}

void cheapestPodFirst(Jobs& jobs) {
  struct Ranked {
    const JobView* job;
    PodRank rank;
  };
  std::vector<Ranked> ranked;
  for (const JobView* job : jobs) {
    ranked.push_back({job, job->pod == nullptr ? PodRank{} : rankOf(*job->pod)});
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
    if (a.job->pod == nullptr || b.job->pod == nullptr) {
      return a.job->pod == nullptr && b.job->pod != nullptr;
    }
    if (a.rank != b.rank) return a.rank < b.rank;
    return a.job->pod->meta.creationTimestamp > b.job->pod->meta.creationTimestamp;
  });
  std::transform(ranked.begin(), ranked.end(), jobs.begin(), [](const Ranked& r) { return r.job; });
}

void bringTogether(Jobs& jobs) {
  std::map<std::string, size_t> bestPlace;
  std::vector<std::pair<size_t, const JobView*>> placed;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const std::string batch = batchJobOf(*jobs[i]);
    const size_t place = batch.empty() ? i : bestPlace.try_emplace(batch, i).first->second;
    placed.emplace_back(place, jobs[i]);
  }
  std::stable_sort(placed.begin(), placed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::transform(placed.begin(), placed.end(), jobs.begin(),
                 [](const auto& p) { return p.second; });
}

void mostMovedFirst(Jobs& jobs, std::span<const JobView> all) {
  std::map<std::string, size_t> moving;
  for (const JobView& job : all) {
    const bool counts = job.phase == "Running" || (isPending(job) && job.arbitrated);
    const std::string batch = batchJobOf(job);
    if (counts && !batch.empty()) ++moving[batch];
  }
  const auto count = [&](const JobView* job) {
    const auto found = moving.find(batchJobOf(*job));
    return found == moving.end() ? size_t{0} : found->second;
  };
  std::stable_sort(jobs.begin(), jobs.end(),
                   [&](const JobView* a, const JobView* b) { return count(a) > count(b); });
}

Verdict judge(const JobView& job, const LiveJobs& live, const ArbitrationRules& rules) {
  using Outcome = Verdict::Outcome;
  if (job.pod == nullptr) return {Outcome::kPassed, &job, ""};
  if (rules.isForced && rules.isForced(*job.pod)) return {Outcome::kPassed, &job, ""};
  if (auto why = rules.never(*job.pod)) return {Outcome::kFailed, &job, std::move(*why)};
  if (auto why = refusedByLimits(*job.pod, rules.limits, live, rules.workloadOf)) {
    return {Outcome::kWaits, &job, std::move(*why)};
  }
  return {Outcome::kPassed, &job, ""};
}

}  // namespace

std::vector<const JobView*> arbitrationOrder(std::vector<const JobView*> waiting,
                                             std::span<const JobView> all) {
  newestFirst(waiting);
  cheapestPodFirst(waiting);
  bringTogether(waiting);
  mostMovedFirst(waiting, all);
  return waiting;
}

std::vector<Verdict> arbitrate(std::vector<const JobView*> waiting, std::span<const JobView> all,
                               const ArbitrationRules& rules) {
  LiveJobs live(all, LiveJobs::Count::kArbitrated);
  std::vector<Verdict> out;
  for (const JobView* job : arbitrationOrder(std::move(waiting), all)) {
    out.push_back(judge(*job, live, rules));
    if (out.back().outcome == Verdict::Outcome::kPassed) live.add(*job);
  }
  return out;
}

}  // namespace mangrove::descheduler
