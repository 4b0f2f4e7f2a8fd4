#include "sim/contention.h"

#include <algorithm>
#include <numeric>

namespace mangrove::sim {

CpuGrants divideCpu(const CpuNeeds& needs) {
  const double room = std::max(needs.capacity - needs.system, 0.0);
  CpuGrants out;
  out.services = std::min(needs.services, room);
  out.batch = std::max(std::min({needs.batch, needs.batchLimit, room - out.services}), 0.0);
  return out;
}

// Who wants less than his share by weight is served first; what he leaves raises the others' shares.
std::vector<double> fairShares(double capacity, std::span<const CpuClaim> claims) {
  std::vector<size_t> order(claims.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return claims[a].wants * claims[b].weight < claims[b].wants * claims[a].weight;
  });
  double weights = 0;
  for (const CpuClaim& claim : claims) weights += claim.weight;
  std::vector<double> out(claims.size());
  for (size_t i : order) {
    const double share = weights > 0 ? capacity * claims[i].weight / weights : 0;
    out[i] = std::min(claims[i].wants, share);
    capacity -= out[i];
    weights -= claims[i].weight;
  }
  return out;
}

std::vector<size_t> killedFor(int64_t over, std::span<const int64_t> uses) {
  std::vector<size_t> order(uses.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return uses[a] > uses[b]; });
  std::vector<size_t> out;
  for (size_t i : order) {
    if (over <= 0) break;
    over -= uses[i];
    out.push_back(i);
  }
  return out;
}

}  // namespace mangrove::sim
