#include "agent/almanac/seasons.h"

#include <algorithm>
#include <vector>

#include "stats/percentile.h"

namespace mangrove::agent {

std::optional<AlmanacSample> peakOf(std::span<const AlmanacAnswer> cells, int64_t minutes) {
  std::vector<double> cpu, memory;
  int64_t known = 0;
  for (const AlmanacAnswer& one : cells) {
    cpu.push_back(one.cell.cpu.p90);
    memory.push_back(one.cell.memory.p90);
    known += one.minutes;
  }
  if (cells.empty() || known * 2 < minutes) return std::nullopt;
  std::sort(cpu.begin(), cpu.end());
  std::sort(memory.begin(), memory.end());
  return AlmanacSample{cpu[stats::nearestRankIndex(cpu.size(), 0.95)],
                       memory[stats::nearestRankIndex(memory.size(), 0.98)]};
}

std::optional<AlmanacSample> Seasons::coming(const std::string& subject, int64_t minute) {
  const auto [at, isNew] = known_.try_emplace(subject);
  Known& known = at->second;
  if (!isNew && minute >= known.asked && minute - known.asked < kKept) return known.peak;
  known = {minute, std::nullopt};
  for (const int64_t back : {kDay, kWeek}) {
    const auto cells = almanac_.query({subject, minute - back, minute - back + kAhead});
    const auto peak = peakOf(cells, kAhead);
    if (!peak) continue;
    const AlmanacSample most = known.peak.value_or(AlmanacSample{});
    known.peak = AlmanacSample{std::max(most.cpu, peak->cpu), std::max(most.memory, peak->memory)};
  }
  return known.peak;
}

}  // namespace mangrove::agent
