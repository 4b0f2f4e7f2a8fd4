#include "placement/preemption/budgets.h"

namespace mangrove::placement {

Budgets::Budgets(const Cluster& cluster) {
  for (const auto& [key, budget] : cluster.budgets) {
    if (!budget->selector || budget->selector->empty()) continue;
    if (auto selector = api::compile(*budget->selector))
      all_.push_back({budget.get(), std::move(*selector)});
  }
}

Budgets::Split Budgets::split(const std::vector<PodPtr>& pods) const {
  if (all_.empty()) return {{}, pods};
  Split out;
  std::vector<int32_t> left;
  for (const Budget& budget : all_) left.push_back(budget.object->disruptionsAllowed);
  for (const PodPtr& pod : pods) {
    bool violates = false;
    for (size_t i = 0; i < all_.size(); i++)
      if (guards(all_[i], *pod->pod)) violates = --left[i] < 0 || violates;
    (violates ? out.violating : out.other).push_back(pod);
  }
  return out;
}

bool Budgets::guards(const Budget& budget, const api::Pod& pod) {
  return budget.object->meta.ns == pod.meta.ns && !pod.meta.labels.empty() &&
         !budget.object->disruptedPods.contains(pod.meta.name.str()) &&
         budget.selector.matches(pod.meta.labels);
}

}  // namespace mangrove::placement
