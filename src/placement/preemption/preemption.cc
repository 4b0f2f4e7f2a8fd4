#include "placement/preemption/preemption.h"

#include <algorithm>
#include <optional>

#include "api/annotations/scheduling.h"
#include "placement/cycle/cycle.h"
#include "placement/cycle/diagnosis.h"
#include "placement/preemption/budgets.h"
#include "placement/preemption/least_loss.h"

namespace mangrove::placement {

namespace {

constexpr std::string_view kNotHelpful = "Preemption is not helpful for scheduling";
constexpr std::string_view kNoVictims = "No preemption victims found for incoming pod";

WallTime startOf(const PodInfo& pod) {
  // A pod without a start time has not been seen by its node: it starts now, so it is the newest.
  const WallTime start = pod.pod->status.startTime;
  return start == kZeroTime ? WallTime::max() : start;
}

// Ties are decided too, so that the same node gives the same victims when it is asked again.
bool comesBefore(const PodPtr& a, const PodPtr& b) {
  if (isMoreImportant(*a, *b)) return true;
  if (isMoreImportant(*b, *a)) return false;
  const size_t first = a->pod->meta.uid.hash(), second = b->pod->meta.uid.hash();
  return first != second ? first < second : a->pod->meta.uid < b->pod->meta.uid;
}

class DryRun {
 public:
  explicit DryRun(const PreemptionSearch& search) : s_(search) {}

  // The least set of victims on the row, or why evicting does not help.
  DryRunAnswer on(Row row, Candidate& out) {
    std::vector<PodPtr> lower;
    for (const PodPtr& pod : s_.cluster.table.info(row).pods)
      if (pod->cls->priority < s_.pod->cls->priority && api::isPreemptible(pod->pod->meta.labels))
        lower.push_back(pod);
    if (lower.empty()) return {DryRunAnswer::Kind::kNobody, {}, {}};
    for (const PodPtr& pod : lower) s_.cluster.trialRemove(pod);
    if (const Verdict without = s_.verdict(row); !without.fits()) {
      for (const PodPtr& pod : lower) s_.cluster.trialAdd(pod, row);
      return {DryRunAnswer::Kind::kRefused, without, {}};
    }
    out = s_.leastLoss ? byLoss(row, std::move(lower)) : reprieve(row, std::move(lower));
    // Nobody has to go, and still it was refused: evicting is not what it lacks.
    if (out.victims.empty()) return {DryRunAnswer::Kind::kNobody, {}, {}};
    return {DryRunAnswer::Kind::kCandidate, {}, harmOf(out)};
  }

 private:
  // Puts back, the most important first, whoever may stay.
  Candidate reprieve(Row row, std::vector<PodPtr> removed) {
    std::sort(removed.begin(), removed.end(), comesBefore);
    if (!budgets_) budgets_.emplace(s_.cluster);
    const Budgets::Split split = budgets_->split(removed);
    Candidate out;
    out.row = row;
    for (const PodPtr& pod : split.violating) out.budgetViolations += !stays(row, pod, out.victims);
    for (const PodPtr& pod : split.other) stays(row, pod, out.victims);
    for (const PodPtr& pod : out.victims) s_.cluster.trialAdd(pod, row);
    std::sort(out.victims.begin(), out.victims.end(), comesBefore);
    return out;
  }

  // All of them are away; only those that must go are when it returns, and then nobody is.
  Candidate byLoss(Row row, std::vector<PodPtr> removed) {
    std::sort(removed.begin(), removed.end(), comesBefore);
    if (!budgets_) budgets_.emplace(s_.cluster);
    const Budgets::Split split = budgets_->split(removed);
    Candidate out;
    out.row = row;
    const LossChoice choice = leastLoss({s_.cluster, row, *s_.pod, s_.now}, split.other,
                                        split.violating, [&] { return s_.verdict(row).fits(); });
    out.victims = choice.victims;
    out.budgetViolations = choice.violations;
    out.loss = choice.loss;
    out.sentences = choice.sentences;
    std::sort(out.victims.begin(), out.victims.end(), comesBefore);
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
  std::optional<Budgets> budgets_;
};

// Answers of dry runs, remembered ones where they hold.
class Answers {
 public:
  explicit Answers(const PreemptionSearch& search) : dryRun_(search) {
    search.state.attachParts();
    if (search.state.filtersAcross()) return;
    if (search.leastLoss) return;  // losses grow with time, not with changes of the node
    memo_ = &search.state.memo();
    memo_->refresh(search.cluster, search.state.outsideNow());
    // Its own nomination does not stand in its way, but in that of others of its class.
    const Interned own = search.cluster.nominatedNode(search.pod->pod->meta.uid);
    if (!own.empty()) ownRow_ = search.cluster.table.find(own.view());
  }

  // Valid until the next call.
  const DryRunAnswer& at(Row row) {
    const bool remembers = memo_ && row != ownRow_;
    DryRunAnswer& known = remembers ? memo_->at(row) : unremembered_;
    if (remembers && known.kind != DryRunAnswer::Kind::kUnknown) return known;
    Candidate unused;
    known = dryRun_.on(row, unused);
    return known;
  }
  Candidate candidate(Row row) {
    Candidate out;
    dryRun_.on(row, out);
    return out;
  }

 private:
  DryRunAnswer unremembered_;
  DryRun dryRun_;
  PreemptionMemo* memo_ = nullptr;
  Row ownRow_ = kNoRow;
};

// Why no node helps, in Kubernetes' words. There are few reasons, and neighbours have the same.
class Failures {
 public:
  void add(const DryRunAnswer& answer) {
    if (answer.kind == DryRunAnswer::Kind::kNobody) {
      nobody_++;
      return;
    }
    if (last_ >= refused_.size() || !(refused_[last_].why == answer.why))
      last_ = placeOf(answer.why);
    refused_[last_].nodes++;
  }
  std::string message(const PreemptionSearch& search) const {
    Diagnosis none;
    none.nodes = search.cluster.table.size();
    if (nobody_ > 0) none.reasons[std::string(kNoVictims)] = nobody_;
    for (const auto& [why, nodes] : refused_) {
      const Plugin& plugin = *search.layout.filters[why.plugin].plugin;
      for (const auto& reason : plugin.reasons(search.state.plan(), why.why))
        none.reasons[reason] += nodes;
    }
    if (none.nodes > search.rows.size())
      none.reasons[std::string(kNotHelpful)] += none.nodes - search.rows.size();
    return "preemption: " + none.message();
  }

 private:
  struct Refused {
    Verdict why;
    size_t nodes = 0;
  };
  size_t placeOf(const Verdict& why) {
    const auto at = std::find_if(refused_.begin(), refused_.end(),
                                 [&](const Refused& known) { return known.why == why; });
    if (at != refused_.end()) return static_cast<size_t>(at - refused_.begin());
    refused_.push_back({why});
    return refused_.size() - 1;
  }

  size_t nobody_ = 0;
  size_t last_ = 0;  // of refused_
  std::vector<Refused> refused_;
};

}  // namespace

Harm harmOf(const Candidate& candidate) {
  int64_t highest = std::numeric_limits<int32_t>::min(), sum = 0;
  for (const PodPtr& victim : candidate.victims) {
    const int64_t priority = victim->cls->priority;
    highest = std::max(highest, priority);
    sum += priority + (int64_t{1} << 31);
  }
  WallTime earliest = WallTime::max();
  for (const PodPtr& victim : candidate.victims)
    if (victim->cls->priority == highest) earliest = std::min(earliest, startOf(*victim));
  if (candidate.loss)
    return {candidate.budgetViolations, highest, static_cast<int64_t>(*candidate.loss * 1000),
            static_cast<int64_t>(candidate.victims.size()), 0};
  return {candidate.budgetViolations, highest, sum, static_cast<int64_t>(candidate.victims.size()),
          -earliest.time_since_epoch().count()};
}

bool isMoreImportant(const PodInfo& a, const PodInfo& b) {
  if (a.cls->priority != b.cls->priority) return a.cls->priority > b.cls->priority;
  return startOf(a) < startOf(b);
}

size_t leastHarmful(const std::vector<Candidate>& candidates) {
  std::vector<Harm> harms;
  harms.reserve(candidates.size());
  for (const Candidate& candidate : candidates) harms.push_back(harmOf(candidate));
  return static_cast<size_t>(std::min_element(harms.begin(), harms.end()) - harms.begin());
}

PreemptionSearch searchAfter(Cycle& cycle, Cluster& cluster, Profile& profile, const PodPtr& pod) {
  return {cluster,
          cycle.state(),
          profile.layout(),
          pod,
          cycle.diagnosis().mayPreempt,
          [&cycle](Row row) { return cycle.fitsWithNominated(row); },
          profile.preemptionArgs(),
          choosesByLoss(profile)};
}

bool choosesByLoss(const Profile& profile) {
  const auto& all = profile.config().args;
  const auto args = all.find("DefaultPreemption");
  const json::Object* object = args == all.end() ? nullptr : args->second.if_object();
  const json::Value* said = object ? object->if_contains("leastLoss") : nullptr;
  return said != nullptr && said->is_bool() && said->get_bool();
}

Preemption preempt(const PreemptionSearch& search, Rng& rng) {
  const size_t n = search.rows.size();
  const size_t wanted = candidatesWanted(n, search.args);
  Answers answers(search);
  Failures failures;
  size_t found = 0;
  bool harmless = false;
  Row best = kNoRow;
  Harm least{};
  const size_t offset = n == 0 ? 0 : rng.below(n);
  for (size_t i = 0; i < n && !(harmless && found >= wanted); i++) {
    const Row row = search.rows[offset + i < n ? offset + i : offset + i - n];
    const DryRunAnswer& answer = answers.at(row);
    if (answer.kind != DryRunAnswer::Kind::kCandidate) {
      failures.add(answer);
      continue;
    }
    found++;
    harmless = harmless || answer.harm[0] == 0;
    if (best != kNoRow && !(answer.harm < least)) continue;
    best = row;
    least = answer.harm;
  }
  if (best == kNoRow) return {kNoRow, {}, failures.message(search)};
  Candidate chosen = answers.candidate(best);
  return {best, std::move(chosen.victims), "", std::move(chosen.sentences)};
}

}  // namespace mangrove::placement
