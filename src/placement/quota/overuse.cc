#include "placement/quota/overuse.h"

#include <algorithm>
#include <numeric>

namespace mangrove::placement {

namespace {

bool isWithin(const Amounts& used, const Amounts& limit) {
  return exceeding(used, limit).empty();
}

// The least important first.
std::vector<size_t> byImportance(std::span<const OverusePod> pods) {
  std::vector<size_t> order(pods.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (pods[a].priority != pods[b].priority) return pods[a].priority < pods[b].priority;
    return pods[a].started > pods[b].started;
  });
  return order;
}

}  // namespace

std::vector<size_t> overuseVictims(const Amounts& used, const Amounts& limit,
                                   std::span<const OverusePod> pods, bool onlyIfEnough) {
  Amounts left = used;
  std::vector<size_t> taken;
  for (size_t i : byImportance(pods)) {
    if (isWithin(left, limit)) break;
    if (pods[i].kind == PodKind::kFixed) continue;
    left.subtract(pods[i].request);
    taken.push_back(i);
  }
  std::vector<size_t> out;
  const bool enough = isWithin(left, limit);
  if (!enough && onlyIfEnough) return out;
  for (auto at = taken.rbegin(); at != taken.rend(); ++at) {
    Amounts with = left;
    with.add(pods[*at].request);
    if (enough && isWithin(with, limit))
      left = std::move(with);
    else
      out.push_back(*at);
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool OveruseClock::isDue(bool over, MonoTime now) {
  if (!over) {
    since_.reset();
    return false;
  }
  if (!since_) since_ = now;
  if (now - *since_ <= patience_) return false;
  since_ = now;
  return true;
}

}  // namespace mangrove::placement
