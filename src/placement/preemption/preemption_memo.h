#pragma once
// What dry runs of preemption found on every node for one class of pods. A dry run answers from the
// node and the class alone as long as no filter of the class counts pods elsewhere, so its answer
// holds until the node changes: a storm of preemptors pays for each node once, not once per pod.
//
//   memo.refresh(cluster, outside);
//   DryRunAnswer& known = memo.at(row);
//   if (known.kind == DryRunAnswer::Kind::kUnknown) known = tryOut(row);
//
// Keeps no pods alive: the victims of the node that is chosen are found again. Owner thread only.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "placement/cluster/cluster.h"
#include "placement/framework/verdict.h"

namespace mangrove::placement {

// What candidates are compared by, in this order, less is better: violated budgets, priority of the
// highest victim, sum of priorities, number of victims, how early the highest ones started.
using Harm = std::array<int64_t, 5>;

struct DryRunAnswer {
  enum class Kind : uint8_t {
    kUnknown,
    kNobody,   // nobody there may be evicted
    kRefused,  // evicting all of them does not help: `why`
    kCandidate,
  };
  Kind kind = Kind::kUnknown;
  Verdict why;
  Harm harm{};
};

class PreemptionMemo {
 public:
  // Forgets the nodes that changed since the last time; `outside` stands for everything that
  // concerns all of them.
  void refresh(const Cluster& cluster, uint64_t outside);
  // Changes since `mark` were taken back.
  void rewound(uint64_t mark, std::span<const Row> rows);
  DryRunAnswer& at(Row row) { return answers_[row]; }

 private:
  std::vector<DryRunAnswer> answers_;  // by row
  uint64_t mark_ = 0;
  uint64_t outside_ = 0;
  uint64_t budgets_ = 0;
};

}  // namespace mangrove::placement
