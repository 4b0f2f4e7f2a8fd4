#include "report/windows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/number/rng.h"
#include "stats/experiment.h"

namespace mangrove::report {
namespace {

// Of replicas: as many groups as still give an interval with some room; long groups forget the
// past.
constexpr size_t kGroups = 12;
constexpr uint64_t kBootstrapSeed = 1;

struct Pair {
  const Window* on = nullptr;
  const Window* off = nullptr;
};

// In the order of time: pair first, place second.
std::vector<Pair> wholePairs(const std::vector<Window>& windows, uint64_t least) {
  std::map<std::pair<size_t, std::string>, Pair> found;
  for (const Window& window : windows) {
    if (window.requests < least || window.p99 <= 0) continue;
    Pair& pair = found[{window.pair, window.place}];
    (window.arm == Arm::kOn ? pair.on : pair.off) = &window;
  }
  std::vector<Pair> out;
  for (const auto& [key, pair] : found)
    if (pair.on != nullptr && pair.off != nullptr) out.push_back(pair);
  return out;
}

// Means of consecutive values, so that what neighbours share is counted once.
std::vector<double> grouped(const std::vector<double>& values) {
  const size_t size = std::max<size_t>(values.size() / kGroups, 1);
  std::vector<double> out;
  for (size_t at = 0; at + size <= values.size(); at += size) {
    double sum = 0;
    for (size_t i = at; i < at + size; ++i) sum += values[i];
    out.push_back(sum / static_cast<double>(size));
  }
  return out;
}

stats::Effect effectOf(const std::vector<Pair>& pairs, double Window::*value,
                       const CompareOptions& options) {
  std::vector<double> on, off;
  for (const Pair& pair : pairs) {
    on.push_back(pair.on->*value);
    off.push_back(pair.off->*value);
  }
  auto ratios = stats::logRatios(on, off);
  if (options.design == Design::kReplicas) ratios = grouped(ratios);
  return stats::pairedEffect(ratios, options.confidence);
}

stats::Interval batchOf(const std::vector<Window>& windows, Arm arm, double confidence) {
  std::vector<double> values;
  for (const Window& window : windows)
    if (window.arm == arm && window.batchCores) values.push_back(*window.batchCores);
  return stats::medianInterval(values, confidence, kBootstrapSeed);
}

}  // namespace

std::vector<std::vector<bool>> planWindows(size_t places, size_t pairs, uint64_t seed) {
  Rng rng(seed);
  std::vector<std::vector<bool>> out(pairs, std::vector<bool>(places));
  for (auto& pair : out)
    for (size_t place = 0; place < places; ++place) pair[place] = rng.chance(0.5);
  return out;
}

Comparison compareWindows(const std::vector<Window>& windows, const CompareOptions& options) {
  Comparison out;
  out.options = options;
  const auto pairs = wholePairs(windows, options.leastRequests);
  out.windows = windows.size();
  out.leftOut = windows.size() - 2 * pairs.size();
  out.p50 = effectOf(pairs, &Window::p50, options);
  out.p99 = effectOf(pairs, &Window::p99, options);
  out.batchOn = batchOf(windows, Arm::kOn, options.confidence);
  out.batchOff = batchOf(windows, Arm::kOff, options.confidence);
  return out;
}

}  // namespace mangrove::report
