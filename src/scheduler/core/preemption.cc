#include "scheduler/core/preemption.h"

#include <algorithm>
#include <array>
#include <map>

#include "api/annotations/scheduling.h"
#include "scheduler/core/diagnosis.h"

namespace mangrove::scheduler {

namespace {

constexpr std::string_view kNotHelpful = "Preemption is not helpful for scheduling";
constexpr std::string_view kNoVictims = "No preemption victims found for incoming pod";

WallTime startOf(const PodInfo& pod) {
  // A pod without a start time has not been seen by its node: it starts now, so it is the newest.
  const WallTime start = pod.pod->status.startTime;
  return start == kZeroTime ? WallTime::max() : start;
}

bool guards(const api::PodDisruptionBudget& budget, const api::Pod& pod) {
  if (budget.meta.ns != pod.meta.ns || pod.meta.labels.empty()) return false;
  if (!budget.selector || budget.selector->empty()) return false;
  if (budget.disruptedPods.contains(pod.meta.name.str())) return false;
  const auto selector = api::compile(*budget.selector);
  return selector && selector->matches(pod.meta.labels);
}

// Those whose going would break a budget, walking in the order of importance.
struct Split {
  std::vector<PodPtr> violating, other;
};
Split splitByBudgets(const std::vector<PodPtr>& pods, const Cluster& cluster) {
  Split out;
  std::map<std::string, int32_t> left;
  for (const PodPtr& pod : pods) {
    bool violates = false;
    for (const auto& [key, budget] : cluster.budgets) {
      if (!guards(*budget, *pod->pod)) continue;
      const auto at = left.try_emplace(key, budget->disruptionsAllowed).first;
      violates = --at->second < 0 || violates;
    }
    (violates ? out.violating : out.other).push_back(pod);
  }
  return out;
}

class DryRun {
 public:
  explicit DryRun(const PreemptionSearch& search) : s_(search) {}

  // The least set of victims on the row; nullopt: evicting does not help, and why.
  std::optional<Candidate> on(Row row, std::vector<std::string>& why) {
    std::vector<PodPtr> lower;
    for (const PodPtr& pod : s_.cluster.table.info(row).pods)
      if (pod->cls->priority < s_.pod->cls->priority && api::isPreemptible(pod->pod->meta.labels))
        lower.push_back(pod);
    if (lower.empty()) {
      why = {std::string(kNoVictims)};
      return std::nullopt;
    }
    for (const PodPtr& pod : lower) s_.cluster.trialRemove(pod);
    const Verdict without = s_.verdict(row);
    if (!without.fits()) {
      why = s_.layout.filters[without.plugin].plugin->reasons(s_.state.plan(), without.why);
      for (const PodPtr& pod : lower) s_.cluster.trialAdd(pod, row);
      return std::nullopt;
    }
    return reprieve(row, std::move(lower));
  }

 private:
  // Puts back, the most important first, whoever may stay.
  Candidate reprieve(Row row, std::vector<PodPtr> removed) {
    std::sort(removed.begin(), removed.end(),
              [](const PodPtr& a, const PodPtr& b) { return isMoreImportant(*a, *b); });
    const Split split = splitByBudgets(removed, s_.cluster);
    Candidate out;
    out.row = row;
    for (const PodPtr& pod : split.violating) out.budgetViolations += !stays(row, pod, out.victims);
    for (const PodPtr& pod : split.other) stays(row, pod, out.victims);
    for (const PodPtr& pod : out.victims) s_.cluster.trialAdd(pod, row);
    std::sort(out.victims.begin(), out.victims.end(),
              [](const PodPtr& a, const PodPtr& b) { return isMoreImportant(*a, *b); });
    return out;
  }

  bool stays(Row row, const PodPtr& pod, std::vector<PodPtr>& victims) {
    s_.cluster.trialAdd(pod, row);
    if (s_.verdict(row).fits()) return true;
    s_.cluster.trialRemove(pod);
    victims.push_back(pod);
    return false;
  }

  const PreemptionSearch& s_;
};

// What candidates are compared by, in this order; less is better.
std::array<int64_t, 5> harmOf(const Candidate& candidate) {
  int64_t highest = std::numeric_limits<int32_t>::min(), sum = 0;
  for (const PodPtr& victim : candidate.victims) {
    const int64_t priority = victim->cls->priority;
    highest = std::max(highest, priority);
    sum += priority + (int64_t{1} << 31);
  }
  WallTime earliest = WallTime::max();
  for (const PodPtr& victim : candidate.victims)
    if (victim->cls->priority == highest) earliest = std::min(earliest, startOf(*victim));
  return {candidate.budgetViolations, highest, sum, static_cast<int64_t>(candidate.victims.size()),
          -earliest.time_since_epoch().count()};
}

}  // namespace

bool isMoreImportant(const PodInfo& a, const PodInfo& b) {
  if (a.cls->priority != b.cls->priority) return a.cls->priority > b.cls->priority;
  return startOf(a) < startOf(b);
}

size_t leastHarmful(const std::vector<Candidate>& candidates) {
  std::vector<std::array<int64_t, 5>> harms;
  harms.reserve(candidates.size());
  for (const Candidate& candidate : candidates) harms.push_back(harmOf(candidate));
  return static_cast<size_t>(std::min_element(harms.begin(), harms.end()) - harms.begin());
}

Preemption preempt(const PreemptionSearch& search, Rng& rng) {
  Diagnosis none;
  none.nodes = search.cluster.table.size();
  const size_t n = search.rows.size();
  const size_t wanted = std::min<size_t>(
      n, std::max<size_t>(n * static_cast<size_t>(search.args.minCandidatesPercentage) / 100,
                          static_cast<size_t>(search.args.minCandidatesAbsolute)));
  std::vector<Candidate> found;
  bool harmless = false;
  DryRun dryRun(search);
  const size_t offset = n == 0 ? 0 : rng.below(n);
  for (size_t i = 0; i < n && !(harmless && found.size() >= wanted); i++) {
    std::vector<std::string> why;
    if (auto candidate = dryRun.on(search.rows[(offset + i) % n], why)) {
      harmless = harmless || candidate->budgetViolations == 0;
      found.push_back(std::move(*candidate));
    }
    for (const auto& reason : why) none.reasons[reason]++;
  }
  if (!found.empty()) {
    Candidate& best = found[leastHarmful(found)];
    return {best.row, std::move(best.victims), ""};
  }
  if (none.nodes > n) none.reasons[std::string(kNotHelpful)] += none.nodes - n;
  return {kNoRow, {}, "preemption: " + none.message()};
}

}  // namespace mangrove::scheduler
