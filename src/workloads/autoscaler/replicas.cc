#include "workloads/autoscaler/replicas.h"

#include <algorithm>
#include <cmath>

namespace mangrove::workloads {
namespace {

using State = PodReading::State;

constexpr auto kInitialization = std::chrono::minutes(5);
constexpr auto kInitialReadiness = std::chrono::seconds(30);

struct Counted {
  int64_t used;
  int64_t asked;
};
using Figures = std::vector<Counted>;

struct Ratio {
  double value = 1;
  int32_t utilization = 0;
  int64_t average = 0;
};

Ratio ratioOf(const Question& question, const Figures& figures) {
  int64_t used = 0, asked = 0;
  for (const Counted& one : figures) {
    used += one.used;
    asked += one.asked;
  }
  Ratio out;
  if (figures.empty()) return out;
  out.average = used / static_cast<int64_t>(figures.size());
  if (!question.utilization) {
    out.value = static_cast<double>(out.average) / static_cast<double>(question.average);
    return out;
  }
  out.utilization = static_cast<int32_t>(used * 100 / asked);
  out.value = static_cast<double>(out.utilization) / static_cast<double>(*question.utilization);
  return out;
}

bool isWithin(const Question& question, double ratio) {
  return ratio >= 1 - question.toleranceDown && ratio <= 1 + question.toleranceUp;
}

// What a pod that was not measured is taken to use when the others ask for fewer pods.
int64_t fullyBusy(const Question& question, const PodReading& pod) {
  if (!question.utilization) return question.average;
  return pod.asked * std::max(100, *question.utilization) / 100;
}

int32_t up(double replicas) {
  return static_cast<int32_t>(std::ceil(replicas));
}

struct Sorted {
  Figures counted;
  std::vector<const PodReading*> missing, unready;
};

Sorted sorted(const std::vector<PodReading>& pods) {
  Sorted out;
  for (const PodReading& pod : pods) {
    if (pod.state == State::kIgnored) continue;
    if (pod.state == State::kUnready)
      out.unready.push_back(&pod);
    else if (!pod.used)
      out.missing.push_back(&pod);
    else
      out.counted.push_back({*pod.used, pod.asked});
  }
  return out;
}

bool anyAsksNothing(const Sorted& sides) {
  const auto nothing = [](const PodReading* pod) { return pod->asked <= 0; };
  return std::any_of(sides.counted.begin(), sides.counted.end(),
                     [](const Counted& one) { return one.asked <= 0; }) ||
         std::any_of(sides.missing.begin(), sides.missing.end(), nothing) ||
         std::any_of(sides.unready.begin(), sides.unready.end(), nothing);
}

// With those that could not be counted, taken so that they hold the change back.
int32_t withTheRest(const Question& question, Sorted sides, double before, bool unreadyCount) {
  for (const PodReading* pod : sides.missing) {
    if (before < 1) sides.counted.push_back({fullyBusy(question, *pod), pod->asked});
    if (before > 1) sides.counted.push_back({0, pod->asked});
  }
  if (unreadyCount)
    for (const PodReading* pod : sides.unready) sides.counted.push_back({0, pod->asked});
  const double after = ratioOf(question, sides.counted).value;
  const bool turned = (before < 1 && after > 1) || (before > 1 && after < 1);
  if (isWithin(question, after) || turned) return question.current;
  const int32_t wanted = up(after * static_cast<double>(sides.counted.size()));
  const bool backwards =
      (after < 1 && wanted > question.current) || (after > 1 && wanted < question.current);
  return backwards ? question.current : wanted;
}

Proposal refused(const Question& question, std::string why) {
  return {question.current, 0, 0, std::move(why)};
}

}  // namespace

Proposal replicasFor(const Question& question, const std::vector<PodReading>& pods) {
  const Sorted sides = sorted(pods);
  if (pods.empty()) return refused(question, "no pods are selected by the target");
  if (sides.counted.empty()) return refused(question, "no pod that is ready was measured");
  if (question.utilization && anyAsksNothing(sides))
    return refused(question, "a container has no request to measure its use against");
  const Ratio now = ratioOf(question, sides.counted);
  Proposal out{question.current, now.utilization, now.average, ""};
  const bool unreadyCount = !sides.unready.empty() && now.value > 1;
  if (!unreadyCount && sides.missing.empty()) {
    const double ready = static_cast<double>(sides.counted.size());
    if (!isWithin(question, now.value)) out.replicas = up(now.value * ready);
    return out;
  }
  out.replicas = withTheRest(question, sides, now.value, unreadyCount);
  return out;
}

PodReading::State stateOf(const api::Pod& pod, bool isCpu, std::optional<WallTime> measuredAt,
                          Duration window, WallTime now) {
  if (pod.meta.isDeleting() || pod.status.phase == api::PodPhase::kFailed) return State::kIgnored;
  if (pod.status.phase == api::PodPhase::kPending) return State::kUnready;
  if (!measuredAt || !isCpu) return State::kCounts;
  const api::Condition* ready = api::findCondition(pod.status.conditions, "Ready");
  if (ready == nullptr || pod.status.startTime == kZeroTime) return State::kUnready;
  const bool isReady = ready->status == api::Truth::kTrue;
  const WallTime since = ready->lastTransitionTime;
  const auto spanned = std::chrono::duration_cast<std::chrono::microseconds>(window);
  const bool starts = pod.status.startTime + kInitialization > now;
  const bool unready = starts ? !isReady || *measuredAt < since + spanned
                              : !isReady && pod.status.startTime + kInitialReadiness > since;
  return unready ? State::kUnready : State::kCounts;
}

}  // namespace mangrove::workloads
