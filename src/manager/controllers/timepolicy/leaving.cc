#include "manager/controllers/timepolicy/leaving.h"

#include <algorithm>
#include <tuple>

#include "base/number/elapsed.h"

namespace mangrove::manager {
namespace {

// How long it would go on; a pod that is late may end any moment.
Duration remaining(const PodSold& sold, WallTime now) {
  if (!sold.expected) return Duration::max();
  if (sold.started == kZeroTime) return *sold.expected;
  return std::max<Duration>(Duration::zero(), *sold.expected - elapsed(sold.started, now));
}

bool goesBefore(const Holder& a, const Holder& b, WallTime now) {
  const Duration left = remaining(*a.sold, now), right = remaining(*b.sold, now);
  if (left != right) return left > right;
  if (a.sold->priority != b.sold->priority) return a.sold->priority < b.sold->priority;
  if (a.holds.cpu != b.holds.cpu) return a.holds.cpu > b.holds.cpu;
  if (a.holds.memory != b.holds.memory) return a.holds.memory > b.holds.memory;
  if (a.sold->started != b.sold->started) return a.sold->started > b.sold->started;
  return std::tie(a.ns, a.name) < std::tie(b.ns, b.name);
}

}  // namespace

CpuMemory holdings(const PodSold& sold) {
  CpuMemory out;
  for (const auto& amount : sold.amounts) out += amount;
  return out;
}

std::vector<Holder> whoLeaves(std::vector<Holder> holders, const CpuMemory& allowed, WallTime now) {
  CpuMemory held;
  for (const auto& holder : holders) held += holder.holds;
  std::sort(holders.begin(), holders.end(),
            [now](const Holder& a, const Holder& b) { return goesBefore(a, b, now); });
  size_t count = 0;
  while (count < holders.size() && (held.cpu > allowed.cpu || held.memory > allowed.memory))
    held = held - holders[count++].holds;
  holders.resize(count);
  return holders;
}

WallTime noticeTime(WallTime closesAt, Duration grace, const PodSold& sold) {
  return closesAt - std::chrono::duration_cast<WallTime::duration>(std::max(grace, sold.notice));
}

}  // namespace mangrove::manager
