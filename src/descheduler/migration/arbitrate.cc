#include "descheduler/migration/arbitrate.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "api/annotations/gang.h"
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

// A gang that moves whole; a plan of several moves is none.
bool isGang(const JobView& job) {
  return !job.together.empty() && job.pod != nullptr &&
         !api::gangNameOf(job.pod->meta.labels, job.pod->meta.annotations).empty();
}

Verdict judge(const JobView& job, const LiveJobs& live, const ArbitrationRules& rules) {
  using Outcome = Verdict::Outcome;
  if (job.pod == nullptr) return {Outcome::kPassed, &job, ""};
  if (rules.isForced && rules.isForced(*job.pod)) return {Outcome::kPassed, &job, ""};
  if (auto why = rules.never(job)) return {Outcome::kFailed, &job, std::move(*why)};
  const MigrationLimits limits = isGang(job) ? asOneMove(rules.limits) : rules.limits;
  if (auto why = refusedByLimits(*job.pod, limits, live, rules.workloadOf)) {
    return {Outcome::kWaits, &job, std::move(*why)};
  }
  return {Outcome::kPassed, &job, ""};
}

Jobs sharing(const Jobs& jobs, const std::string& mark) {
  Jobs out;
  for (const JobView* job : jobs)
    if (job->together == mark) out.push_back(job);
  return out;
}

// Whom one of them keeps waiting, or fails, waits or fails with it.
std::vector<Verdict> judgeAll(const Jobs& group, const LiveJobs& live,
                              const ArbitrationRules& rules) {
  std::vector<Verdict> out;
  LiveJobs trial = live;
  for (const JobView* job : group) {
    out.push_back(judge(*job, trial, rules));
    if (!isGang(*job)) trial.add(*job);
  }
  const auto worst =
      std::max_element(out.begin(), out.end(),
                       [](const Verdict& a, const Verdict& b) { return a.outcome < b.outcome; });
  const Verdict::Outcome outcome = worst->outcome;
  const std::string why = worst->why;
  for (Verdict& verdict : out)
    if (verdict.outcome != outcome) verdict = {outcome, verdict.job, why};
  return out;
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
  std::set<std::string> judged;
  const Jobs ordered = arbitrationOrder(std::move(waiting), all);
  for (const JobView* job : ordered) {
    if (!job->together.empty() && !judged.insert(job->together).second) continue;
    const Jobs group = job->together.empty() ? Jobs{job} : sharing(ordered, job->together);
    std::vector<Verdict> verdicts = judgeAll(group, live, rules);
    for (Verdict& verdict : verdicts) {
      if (verdict.outcome == Verdict::Outcome::kPassed) live.add(*verdict.job);
      out.push_back(std::move(verdict));
    }
  }
  return out;
}

}  // namespace mangrove::descheduler
