#include "placement/reservation/ahead.h"

#include <algorithm>
#include <set>

#include "api/annotations/expected_duration.h"
#include "api/annotations/scheduling.h"

namespace mangrove::placement {
namespace {

WallTime later(WallTime at, Duration by) {
  const auto step = std::chrono::ceil<WallTime::duration>(by);
  return at > WallTime::max() - step ? WallTime::max() : at + step;
}

// When it got its node: what it promised counts from there.
WallTime placedAt(const api::Pod& pod, WallTime now) {
  const api::Condition* placed = api::findCondition(pod.status.conditions, "PodScheduled");
  if (placed && placed->status == api::Truth::kTrue && placed->lastTransitionTime != kZeroTime)
    return placed->lastTransitionTime;
  return pod.status.startTime != kZeroTime ? pod.status.startTime : now;
}

bool isThere(const Tenure& one, WallTime at) {
  return one.from <= at && at < one.until;
}

}  // namespace

Departure departureOf(const api::Annotations& annotations, const api::Labels& labels,
                      const api::PodSpec& spec, WallTime now) {
  Departure out;
  out.priority = spec.priority.value_or(0);
  out.mayBeSent = api::isPreemptible(labels);
  if (const auto runs = api::expectedDurationOf(annotations))
    out.promised =
        later(later(now, *runs), std::chrono::seconds(spec.terminationGracePeriodSeconds));
  return out;
}

Departure departureOf(const api::Pod& pod, WallTime now) {
  Departure out = departureOf(pod.meta.annotations, pod.meta.labels, *pod.spec, placedAt(pod, now));
  out.isGoing = pod.meta.isDeleting();
  return out;
}

bool makesWay(const Departure& pod, const Beginning& reservation) {
  if (pod.isGoing) return true;
  if (!pod.mayBeSent) return false;
  if (pod.promised <= reservation.start) return true;
  return reservation.priority && pod.priority < *reservation.priority;
}

std::vector<TimeStep> stepsOf(std::span<const Tenure> all, WallTime now) {
  std::set<WallTime> moments{now};
  for (const Tenure& one : all)
    for (WallTime at : {one.from, one.until})
      if (at > now && at != WallTime::max()) moments.insert(at);
  std::vector<TimeStep> out;
  for (WallTime at : moments) {
    TimeStep step;
    step.at = at;
    for (const Tenure& one : all) {
      if (isThere(one, at)) step.taken.add(one.amounts);
      if (at > now && one.from == at) step.comes.push_back(one.who);
      if (at > now && one.until == at) step.goes.push_back(one.who);
    }
    out.push_back(std::move(step));
  }
  return out;
}

std::vector<size_t> whoGoes(std::span<const Amounts> candidates, Amounts lacking) {
  std::vector<size_t> out;
  lacking.holdAboveZero();
  lacking.dropZeros();
  for (size_t i = 0; i < candidates.size() && !lacking.empty(); i++) {
    const bool helps = std::ranges::any_of(
        lacking, [&](const auto& want) { return candidates[i].amount(want.name) > 0; });
    if (!helps) continue;
    out.push_back(i);
    lacking.subtract(candidates[i]);
    lacking.holdAboveZero();
    lacking.dropZeros();
  }
  return out;
}

}  // namespace mangrove::placement
