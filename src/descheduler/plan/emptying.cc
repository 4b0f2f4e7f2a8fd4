#include "descheduler/plan/emptying.h"

#include <algorithm>

namespace mangrove::descheduler {

std::vector<size_t> emptyingOrder(std::span<const std::vector<MovablePod>> nodes, size_t budget) {
  std::vector<Loss> losses(nodes.size());
  std::vector<size_t> out;
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].empty() || nodes[n].size() > budget) continue;
    for (const MovablePod& pod : nodes[n]) losses[n].add(pod);
    out.push_back(n);
  }
  std::stable_sort(out.begin(), out.end(), [&](size_t a, size_t b) {
    if (nodes[a].size() != nodes[b].size()) return nodes[a].size() < nodes[b].size();
    return losses[a] < losses[b];
  });
  return out;
}

}  // namespace mangrove::descheduler
