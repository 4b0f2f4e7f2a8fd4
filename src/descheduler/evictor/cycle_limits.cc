#include "descheduler/evictor/cycle_limits.h"

#include <fmt/core.h>

namespace mangrove::descheduler {
namespace {

bool isUsedUp(const std::optional<int64_t>& limit,
              const std::map<std::string, int64_t, std::less<>>& counts, std::string_view key) {
  if (!limit) return false;
  const auto found = counts.find(key);
  return (found == counts.end() ? 0 : found->second) + 1 > *limit;
}

}  // namespace

std::optional<std::string> CycleCount::refusal(const api::Pod& pod) const {
  if (!pod.nodeName.empty() && isUsedUp(limits_.perNode, byNode_, pod.nodeName.view())) {
    return "maximum number of pods per node reached";
  }
  if (isUsedUp(limits_.perNamespace, byNamespace_, pod.meta.ns.view())) {
    return "maximum number of pods per namespace reached";
  }
  if (limits_.total && total_ + 1 > *limits_.total)
    return "maximum number of pods in total reached";
  return std::nullopt;
}

void CycleCount::count(const api::Pod& pod) {
  ++total_;
  ++byNamespace_[pod.meta.ns.str()];
  if (!pod.nodeName.empty()) ++byNode_[pod.nodeName.str()];
}

void CycleCount::reset() {
  total_ = 0;
  byNode_.clear();
  byNamespace_.clear();
}

}  // namespace mangrove::descheduler
