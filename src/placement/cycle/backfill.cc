#include "placement/cycle/backfill.h"

#include <algorithm>
#include <tuple>

#include "api/annotations/expected_duration.h"

namespace mangrove::placement {

namespace {

WallTime startOf(const api::Pod& pod, WallTime now) {
  if (pod.status.startTime != kZeroTime) return pod.status.startTime;
  for (const api::Condition& condition : pod.status.conditions)
    if (condition.type == "PodScheduled" && condition.status == api::Truth::kTrue &&
        condition.lastTransitionTime != kZeroTime)
      return condition.lastTransitionTime;
  return now;
}

// Ends that fall together are one moment.
std::vector<size_t> momentsOf(const std::vector<Ending>& ends, bool withUnknown) {
  std::vector<size_t> out;  // how many pods have ended at it
  for (size_t i = 0; i < ends.size(); i++) {
    const bool isKnown = ends[i].at != WallTime::max();
    if (!isKnown && !withUnknown) break;
    if (isKnown && i + 1 < ends.size() && ends[i + 1].at == ends[i].at) continue;
    out.push_back(i + 1);
  }
  return out;
}

class Planner {
 public:
  Planner(const GroupQuestion& question, const std::vector<Ending>& ends)
      : q_(question), ends_(ends) {}

  // Whether the group fits when so many have ended; then `plan` says where.
  bool fitsAfter(size_t ended, GroupPlan& plan) {
    const size_t mark = q_.trial.mark();
    for (size_t i = 0; i < ended; i++) q_.trial.takeAway(ends_[i].pod);
    GroupOutcome got = placeGroup(q_);
    q_.trial.rollbackTo(mark);
    if (!got.placed()) return false;
    plan.start = ends_[ended - 1].at;
    plan.rows = std::move(got.rows);
    return true;
  }

 private:
  const GroupQuestion& q_;
  const std::vector<Ending>& ends_;
};

}  // namespace

std::optional<WallTime> expectedEnd(const api::Pod& pod, WallTime now) {
  const auto runs = api::expectedDurationOf(pod.meta.annotations);
  if (!runs) return std::nullopt;
  return std::max<WallTime>(
      startOf(pod, now) + std::chrono::duration_cast<WallTime::duration>(*runs), now);
}

std::vector<Ending> endings(const Cluster& cluster, WallTime now) {
  std::vector<Ending> out;
  cluster.eachPod([&](const PodPtr& pod) {
    out.push_back({pod, expectedEnd(*pod->pod, now).value_or(WallTime::max())});
  });
  const auto key = [&](const Ending& one) {
    const api::Pod& pod = *one.pod->pod;
    return std::tuple(one.at, startOf(pod, now), pod.meta.ns.view(), pod.meta.name.view());
  };
  std::sort(out.begin(), out.end(),
            [&](const Ending& a, const Ending& b) { return key(a) < key(b); });
  return out;
}

// More that have ended never hurt, so the first moment is found by halving.
std::optional<GroupPlan> planStart(const GroupQuestion& question, const std::vector<Ending>& ends) {
  const auto moments = momentsOf(ends, question.task.isAged);
  Planner planner(question, ends);
  std::optional<GroupPlan> best;
  size_t low = 0, high = moments.size();
  while (low < high) {
    const size_t middle = best ? (low + high) / 2 : high - 1;  // first: whether it ever fits
    GroupPlan plan;
    if (planner.fitsAfter(moments[middle], plan)) {
      best = std::move(plan);
      high = middle;
    } else {
      if (!best) return std::nullopt;
      low = middle + 1;
    }
  }
  return best;
}

}  // namespace mangrove::placement
