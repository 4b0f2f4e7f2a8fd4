#pragma once
// A group of pods placed whole or not at all. First by the scores, member by member, each seeing
// those before it; when that leaves too few, by packing: the largest first, each where least is
// left, in several orders; then few members in all orders, and many by exchanging their places until
// nobody is in the way (packing.h). Upper bounds on what the nodes can hold say no before anything
// is tried, and budgets that are counted, not timed, end every search.
//
//   Transaction trial(cluster);
//   const GroupOutcome got = placeGroup({profile, cluster, trial, task, pods});
//   if (got.placed()) trial.commit();       // got.rows: where; kNoRow for members beyond the need
//   else fail(pods[got.failing], got.diagnosis);
//
// Refused, the transaction is as it was. Owner thread only.

#include <span>
#include <vector>

#include "placement/cycle/cycle.h"
#include "placement/cycle/packing.h"
#include "placement/cycle/transaction.h"

namespace mangrove::placement {

struct GroupQuestion {
  Profile& profile;
  Cluster& cluster;
  Transaction& trial;
  const GroupTask& task;
  std::span<const PodPtr> pods;  // of the task's members, in their order; null: not there any more
  CycleOptions options = {};
  size_t budget = 2'000'000;             // looks at rows that the packing may cost
  size_t exchanges = exchangesAfter(0);  // that the search over all members may look at
  uint64_t seed = 1;                     // of the orders that it tries
};

struct GroupOutcome {
  std::vector<Row> rows;                // by member
  std::optional<size_t> failing;        // the member that has no place
  std::vector<size_t> fitting, needed;  // by part, of the best attempt
  Diagnosis diagnosis;                  // of the failing member
  bool placed() const { return !failing; }
};
GroupOutcome placeGroup(const GroupQuestion& question);

// Members that fit on each row one after the other, in their order; by row. Looks only.
std::vector<int64_t> slotsByRow(const GroupQuestion& question);

// How many pods of the class the nodes could hold by their free resources alone, where the class
// fits at all; counting stops at `enough`.
int64_t slotsFor(PlanState& state, const Cluster& cluster, int64_t enough);

}  // namespace mangrove::placement
