// Rows that are better than they look: where room is kept for the pod.
#include "placement/cycle/cycle.h"

namespace mangrove::placement {

namespace {

constexpr size_t kEnoughOfTier = 4;  // rows as good as each other that are compared

}  // namespace

// The best of those that fit, by everybody's scores.
std::optional<Placement> Cycle::pickInTier(const std::vector<Row>& tier) {
  state_->attachParts();
  std::vector<Row> fitting;
  Placement one;
  for (size_t i = 0; i < tier.size() && fitting.size() < kEnoughOfTier; i++)
    if (tryOnly(tier[i], one)) fitting.push_back(tier[i]);
  if (fitting.empty()) return std::nullopt;
  if (fitting.size() == 1) return Placement{fitting.front(), 0, tier.size(), 1};
  std::vector<int64_t> sums(fitting.size());
  for (const PluginScore& part : breakdown(fitting))
    for (size_t i = 0; i < fitting.size(); i++) sums[i] += part.weight * part.scores[i];
  size_t best = 0;
  for (size_t i = 1; i < fitting.size(); i++)
    if (sums[i] > sums[best] || (sums[i] == sums[best] && tieOf(fitting[i]) > tieOf(fitting[best])))
      best = i;
  return Placement{fitting[best], sums[best], tier.size(), fitting.size()};
}

// Counters over all nodes count the pods that stand for reservations; where the pod may take their
// place they are not there.
void Cycle::lookAgain() {
  auto& totals = state_->totals();
  for (Row row : state_->restoredRows()) {
    if (!cluster_.table.live(row) || !isAllowed(row)) continue;
    totals[row] = state_->evaluate(row).fits() ? state_->scoreAnyway(row) : kNotFeasible;
  }
}

}  // namespace mangrove::placement
