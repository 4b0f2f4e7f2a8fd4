#include "placement/preemption/preemption_memo.h"

namespace mangrove::placement {

void PreemptionMemo::refresh(const Cluster& cluster, uint64_t outside) {
  const auto changed = cluster.table.changedSince(mark_);
  const bool all =
      !changed || answers_.empty() || outside != outside_ || budgets_ != cluster.budgetGeneration;
  if (all)
    answers_.assign(cluster.table.rows(), {});
  else
    answers_.resize(cluster.table.rows());
  if (!all)
    for (const Row* row = changed->first; row != changed->second; ++row) answers_[*row] = {};
  mark_ = cluster.table.now();
  outside_ = outside;
  budgets_ = cluster.budgetGeneration;
}

void PreemptionMemo::rewound(uint64_t mark, std::span<const Row> rows) {
  if (mark_ <= mark) return;
  mark_ = mark;
  for (Row row : rows)
    if (row < answers_.size()) answers_[row] = {};
}

}  // namespace mangrove::placement
