// Nodes where room is kept for other pods.
#include "scheduler/core/cycle.h"

namespace mangrove::scheduler {

void Cycle::dropForNominated() {
  if (!cluster_.hasNominations()) return;
  for (Row row = 0; row < state_->totals.size(); row++)
    if (state_->totals[row] != kNotFeasible && cluster_.isNominated(row) &&
        !besideNominated(row).fits())
      state_->totals[row] = kNotFeasible;
}

void Cycle::admitBesideNominated() {
  if (!cluster_.hasNominations()) return;
  for (Row row : narrowed_ ? *narrowed_ : cluster_.table.liveRows())
    if (state_->totals[row] == kNotFeasible && cluster_.isNominated(row) &&
        besideNominated(row).fits())
      state_->totals[row] = state_->scoreOfRefused(row);
}

// Thousands of pods may be nominated in a storm: what was found out about a node holds for the
// whole class until the node changes. Not for a pod on its own node, whose nomination is not in its
// way, and not while filters count pods elsewhere.
Verdict Cycle::besideNominated(Row row) {
  if (!cluster_.isNominated(row)) return {};
  if (state_->filtersAcross() || row == ownRow_) {
    const auto [at, isNew] = byNominated_.try_emplace(row);
    if (isNew) at->second = fitsWithNominated(row);
    return at->second;
  }
  Verdict& known = state_->crowded(row);
  if (known.code == Code::kError) known = fitsWithNominated(row);
  return known;
}

// The pods nominated on the row that this one must leave room for.
std::vector<PodPtr> Cycle::company(Row row) const {
  std::vector<PodPtr> out;
  for (const PodPtr& other : cluster_.nominatedOn(cluster_.table.info(row).name)) {
    if (other->pod->meta.uid == pod_->pod->meta.uid || other->row != kNoRow) continue;
    const bool foreign = options_.foreign && options_.foreign->contains(other->pod->meta.uid);
    if (other->cls->priority >= pod_->cls->priority + (foreign ? 1 : 0)) out.push_back(other);
  }
  return out;
}

Verdict Cycle::fitsWithNominated(Row row) {
  if (!options_.besideOnly)
    if (const Verdict plain = state_->evaluate(row); !plain.fits() || !cluster_.isNominated(row))
      return plain;
  const std::vector<PodPtr> others = company(row);
  if (others.empty()) return options_.besideOnly ? state_->evaluate(row) : Verdict{};
  for (const PodPtr& other : others) cluster_.trialAdd(other, row);
  const Verdict crowded = state_->evaluate(row);
  for (const PodPtr& other : others) cluster_.trialRemove(other);
  return crowded;
}

}  // namespace mangrove::scheduler
