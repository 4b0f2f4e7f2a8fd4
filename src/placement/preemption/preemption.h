#pragma once
// DefaultPreemption: which pods of lower priority would have to go so that this one fits, on which
// node that hurts least. Plays with the real cluster (trial removals, put back again), so that
// every filter answers exactly as it would afterwards.
//
//   Preemption found = preempt({cluster, state, layout, pod, diagnosis.mayPreempt, fits, {}}, rng);
//   found.row != kNoRow → delete found.victims, nominate the node
//
// Answers are remembered per class and node (preemption_memo.h) unless a filter of the class counts
// pods on other nodes.
//
// Owner thread only.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/number/rng.h"
#include "placement/cycle/profile.h"
#include "placement/framework/preemption_args.h"
#include "placement/preemption/least_loss.h"
#include "placement/preemption/preemption_memo.h"

namespace mangrove::placement {

struct Candidate {
  Row row = kNoRow;
  std::vector<PodPtr> victims;  // more important ones first
  int64_t budgetViolations = 0;
  std::optional<double> loss = {};  // core seconds thrown away, where victims are chosen by it
  LossSentences sentences = {};     // of each victim, where they are
};

struct Preemption {
  Row row = kNoRow;
  std::vector<PodPtr> victims;
  std::string message;           // why not, as Kubernetes words it; "" when a node was found
  LossSentences sentences = {};  // for the victims' Events; empty: nobody weighed losses
};

// With losses: fewest violated budgets, then the lowest highest victim, the least loss. Without:
// fewest violated budgets, then the lowest highest victim, the lowest sum of priorities, the fewest
// victims, the latest start among the highest victims, the first. Index into `candidates`.
size_t leastHarmful(const std::vector<Candidate>& candidates);
Harm harmOf(const Candidate& candidate);
// Higher priority first, then who runs longer.
bool isMoreImportant(const PodInfo& a, const PodInfo& b);

inline constexpr std::string_view kNeverPreempts =
    "preemption: not eligible due to preemptionPolicy=Never.";

struct PreemptionSearch {
  Cluster& cluster;
  PlanState& state;
  const Layout& layout;
  PodPtr pod;
  std::span<const Row> rows;            // where evicting may help
  std::function<Verdict(Row)> verdict;  // of the pod on the row as it is at the moment
  PreemptionArgs args;
  // Ours: of the pods that may go those whose leaving throws the least work away
  // (victims/order.h); without it Kubernetes' order holds.
  bool leastLoss = false;
  WallTime now = {};  // losses are counted until here
};
Preemption preempt(const PreemptionSearch& search, Rng& rng);

// Member leastLoss of DefaultPreemptionArgs.
bool choosesByLoss(const Profile& profile);

class Cycle;
// What to search after a cycle that found no node. Holds on to the cycle.
PreemptionSearch searchAfter(Cycle& cycle, Cluster& cluster, Profile& profile, const PodPtr& pod);

}  // namespace mangrove::placement
