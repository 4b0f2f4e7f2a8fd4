#include "agent/bench/course.h"

#include <algorithm>

namespace mangrove::agent {
namespace {

constexpr Duration kTooth = std::chrono::seconds(290);
constexpr int64_t kFlatPercent = 2;

Bytes peakOf(std::span<const MemorySample> samples) {
  Bytes peak{0};
  for (const MemorySample& one : samples) peak = std::max(peak, one.rss);
  return peak;
}

double slopeOf(std::span<const MemorySample> samples) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const MemorySample& one : samples) {
    const double minutes = std::chrono::duration<double, std::ratio<60>>(one.at).count();
    const double bytes = static_cast<double>(one.rss.v);
    n += 1, x += minutes, y += bytes, xx += minutes * minutes, xy += minutes * bytes;
  }
  const double spread = n * xx - x * x;
  return spread > 0 ? (n * xy - x * y) / spread : 0;
}

}  // namespace

MemoryCourse courseOf(std::span<const MemorySample> samples) {
  MemoryCourse out;
  if (samples.empty()) return out;
  const auto early = samples.first(samples.size() / 2), late = samples.subspan(early.size());
  out.first = samples.front().rss;
  out.last = samples.back().rss;
  out.peak = peakOf(samples);
  out.latePeak = peakOf(late);
  out.bytesPerMinute = slopeOf(late);
  if (early.empty()) return out;
  out.peakGrowth = out.latePeak - peakOf(early);
  out.judged = early.back().at - early.front().at >= kTooth;
  out.flat = out.judged && out.peakGrowth.v * 100 < peakOf(early).v * kFlatPercent;
  return out;
}

}  // namespace mangrove::agent
