#include "victims/cost.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "stats/percentile.h"

namespace mangrove::victims {
namespace {

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}
double secondsBetween(WallTime from, WallTime to) {
  return std::max(0.0, std::chrono::duration<double>(to - from).count());
}

double restartSeconds(const Progress& progress) {
  const Duration claimed = progress.restart.value_or(kUsualRestart);
  return seconds(std::clamp(claimed, Duration::zero(), kLongestRestart));
}

// Core seconds that can have been done at all since the start.
double doneAtMost(const Progress& progress, WallTime now, double gpuWeight) {
  if (!progress.measuredCpuSeconds) return std::numeric_limits<double>::infinity();
  return std::max(0.0, *progress.measuredCpuSeconds) +
         gpuWeight * progress.gpus * secondsBetween(progress.started, now);
}

// Seconds since the last checkpoint that this start has made; one of an earlier life protects
// nothing that was done in this one.
double unsavedSeconds(const Progress& progress, WallTime now) {
  const double age = secondsBetween(progress.started, now);
  if (progress.says != Progress::Says::kSaves || !progress.saved) return age;
  return std::min(age, secondsBetween(*progress.saved, now));
}

Cost costOf(const Progress& progress, double lostSeconds, double restart, WallTime now,
            double gpuWeight) {
  const double work = workOf(progress, gpuWeight);
  return {std::min(work * lostSeconds, doneAtMost(progress, now, gpuWeight)), work * restart};
}
Cost spokenCost(const Progress& progress, WallTime now, double gpuWeight) {
  return costOf(progress, unsavedSeconds(progress, now), restartSeconds(progress), now, gpuWeight);
}

// What one who speaks says about his kind: how many seconds of work are not saved. Who never saves
// says so without a bound, so that a silent one of a kind that does not save loses all since its own
// start, and not what others happen to be old.
double saidOfItsKind(const Candidate& candidate, const Cost& cost, double work) {
  if (candidate.progress.says == Progress::Says::kNothing)
    return std::numeric_limits<double>::infinity();
  return cost.lost / work;
}

struct Spoken {
  std::vector<double> lost;
  std::vector<double> restart;
};

double median(std::vector<double>& values) {
  const auto middle =
      values.begin() + static_cast<long>(stats::nearestRankIndex(values.size(), 0.5));
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Cost silentCost(const Candidate& candidate, const UsualByKind& usual, WallTime now,
                double gpuWeight) {
  auto found = usual.find(candidate.kind);
  if (found == usual.end()) found = usual.find("");
  if (found == usual.end()) return spokenCost(candidate.progress, now, gpuWeight);
  const double age = secondsBetween(candidate.progress.started, now);
  return costOf(candidate.progress, std::min(age, found->second.lostSeconds),
                found->second.restartSeconds, now, gpuWeight);
}

}  // namespace

double workOf(const Progress& progress, double gpuWeight) {
  return progress.cores + progress.gpus * gpuWeight;
}

UsualByKind usualCosts(std::span<const Candidate> candidates, WallTime now,
                       const UsualByKind& known, double gpuWeight) {
  std::map<std::string, Spoken, std::less<>> spoken;
  for (const Candidate& candidate : candidates) {
    const double work = workOf(candidate.progress, gpuWeight);
    if (candidate.progress.says == Progress::Says::kSilent || work <= 0) continue;
    const Cost cost = spokenCost(candidate.progress, now, gpuWeight);
    for (const std::string_view kind : {std::string_view(candidate.kind), std::string_view()}) {
      Spoken& of = spoken[std::string(kind)];
      of.lost.push_back(saidOfItsKind(candidate, cost, work));
      of.restart.push_back(cost.restart / work);
      if (candidate.kind.empty()) break;  // "" is the median of all: nobody counts twice
    }
  }
  UsualByKind usual = known;
  for (auto& [kind, of] : spoken)
    usual.try_emplace(kind, Usual{median(of.lost), median(of.restart)});
  return usual;
}

std::vector<Cost> costs(std::span<const Candidate> candidates, WallTime now,
                        const UsualByKind& known, double gpuWeight) {
  const UsualByKind usual = usualCosts(candidates, now, known, gpuWeight);
  std::vector<Cost> out;
  out.reserve(candidates.size());
  for (const Candidate& candidate : candidates) {
    const bool silent = candidate.progress.says == Progress::Says::kSilent;
    out.push_back(silent ? silentCost(candidate, usual, now, gpuWeight)
                         : spokenCost(candidate.progress, now, gpuWeight));
  }
  return out;
}

}  // namespace mangrove::victims
