// Nodes where room is kept for other pods.
#include <algorithm>

#include "placement/cycle/cycle.h"

namespace mangrove::placement {

namespace {

// Blocks of a fixed size let the compiler use vector instructions.
constexpr size_t kBlock = 64;
bool hasFeasible(const int32_t* totals) {
  int32_t feasible = 0;
  for (size_t i = 0; i < kBlock; i++) feasible |= totals[i] ^ kNotFeasible;
  return feasible != 0;
}

}  // namespace

// In a storm of preemptors nearly every node is full: those are passed over block by block.
void Cycle::dropForNominated() {
  if (!cluster_.hasNominations()) return;
  auto& totals = state_->totals();
  for (size_t from = 0; from < totals.size(); from += kBlock) {
    const size_t to = std::min(from + kBlock, totals.size());
    if (to - from == kBlock && !hasFeasible(totals.data() + from)) continue;
    for (size_t row = from; row < to; row++)
      if (totals[row] != kNotFeasible && cluster_.isNominated(static_cast<Row>(row)) &&
          !besideNominated(static_cast<Row>(row)).fits())
        totals[row] = kNotFeasible;
  }
}

void Cycle::admitBesideNominated() {
  if (!cluster_.hasNominations()) return;
  for (Row row : narrowed_ ? *narrowed_ : cluster_.table.liveRows())
    if (state_->totals()[row] == kNotFeasible && cluster_.isNominated(row) &&
        besideNominated(row).fits())
      state_->totals()[row] = state_->scoreOfRefused(row);
}

// Thousands of pods may be nominated in a storm: what was found out about a node holds for the
// whole class until the node changes. Not for a pod on its own node, whose nomination is not in its
// way, and not while filters count pods elsewhere.
Verdict Cycle::besideNominated(Row row) {
  if (!cluster_.isNominated(row)) return {};
  if (state_->filtersAcross() || row == ownRow_ || hasKin(row)) {
    const auto [at, isNew] = byNominated_.try_emplace(row);
    if (isNew) at->second = fitsWithNominated(row);
    return at->second;
  }
  Verdict& known = state_->crowded(row);
  if (known.code == Code::kError) known = fitsWithNominated(row);
  return known;
}

bool Cycle::isKin(const PodInfo& other) const {
  for (Plugin* plugin : profile_.groupWise())
    if (plugin->groupWise()->sharesRoom(*pod_->pod, *other.pod)) return true;
  return false;
}

// Members of its own group are nominated there: what holds for it does not for others of its shape.
bool Cycle::hasKin(Row row) const {
  if (profile_.groupWise().empty()) return false;
  const auto there = cluster_.nominatedOn(cluster_.table.info(row).name);
  return std::any_of(there.begin(), there.end(), [&](const PodPtr& pod) { return isKin(*pod); });
}

std::vector<PodPtr> Cycle::company(Row row) const {
  std::vector<PodPtr> out;
  for (const PodPtr& other : cluster_.nominatedOn(cluster_.table.info(row).name)) {
    if (other->pod->meta.uid == pod_->pod->meta.uid || other->row != kNoRow) continue;
    if (isKin(*other)) continue;
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

}  // namespace mangrove::placement
