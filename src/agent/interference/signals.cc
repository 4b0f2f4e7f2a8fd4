#include "agent/interference/signals.h"

#include <algorithm>
#include <cmath>

namespace mangrove::agent::interference {
namespace {

constexpr double kLeastCpu = 0.25;  // CPU seconds a second
constexpr double kLeastCounted = 0.70;
constexpr double kFullLoad = 95;  // percent per CPU: only then a low frequency means anything
constexpr double kRidge = 1e-3;
constexpr std::string_view kNames[] = {"cpu", "llc", "membw", "mem",
                                       "io",  "net", "power", "unknown"};

struct Scale {
  double mean = 0, sigma = 1;
  double of(double x) const { return (x - mean) / sigma; }
};

template <class Get>
Scale scaleOf(std::span<const OfflineSample> samples, Get get) {
  double sum = 0, squares = 0;
  for (const OfflineSample& one : samples) sum += get(one);
  const double mean = sum / static_cast<double>(samples.size());
  for (const OfflineSample& one : samples) squares += (get(one) - mean) * (get(one) - mean);
  const double sigma = std::sqrt(squares / static_cast<double>(samples.size()));
  return {mean, sigma > 0 ? sigma : 1};
}

}  // namespace

std::string_view resourceName(Resource resource) {
  return kNames[static_cast<size_t>(resource)];
}

std::optional<Resource> resourceNamed(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name) return static_cast<Resource>(i);
  return std::nullopt;
}

std::optional<CounterSample> sampleOf(const CounterDeltas& deltas) {
  const double seconds = std::chrono::duration<double>(deltas.window).count();
  if (seconds <= 0 || deltas.instructions <= 0 || deltas.counted < kLeastCounted)
    return std::nullopt;
  if (deltas.cpuSeconds / seconds < kLeastCpu) return std::nullopt;
  CounterSample out;
  out.cpi = deltas.cycles / deltas.instructions;
  if (deltas.cacheMisses) out.mpki = 1000 * *deltas.cacheMisses / deltas.instructions;
  if (deltas.stallCycles) out.spki = 1000 * *deltas.stallCycles / deltas.instructions;
  out.util = 100 * deltas.cpuSeconds / seconds;
  out.frequency = deltas.cycles / seconds / 1e4 / out.util;
  return out;
}

std::vector<Resource> contentionOf(const CounterSample& sample, const SignalFences& fences,
                                   double cpus) {
  std::vector<Resource> out;
  const auto beyond = [](const std::optional<double>& value, const std::optional<double>& fence) {
    return value && fence && *value > *fence;
  };
  if (beyond(sample.cpi, fences.cpi)) {
    if (beyond(sample.mpki, fences.mpki)) out.push_back(Resource::kCache);
    if (beyond(sample.spki, fences.spki)) out.push_back(Resource::kBandwidth);
    if (out.empty()) out.push_back(Resource::kUnknown);
  }
  if (fences.frequency && sample.util >= kFullLoad * cpus && sample.frequency < *fences.frequency)
    out.push_back(Resource::kPower);
  return out;
}

OfflineFit fitOffline(std::span<const OfflineSample> samples) {
  OfflineFit out;
  out.samples = samples.size();
  if (samples.size() < 3) return out;
  const Scale x = scaleOf(samples, [](const auto& one) { return one.cycles; });
  const Scale z = scaleOf(samples, [](const auto& one) { return one.offline; });
  const Scale y = scaleOf(samples, [](const auto& one) { return one.value; });
  double xx = kRidge, zz = kRidge, xz = 0, xy = 0, zy = 0;
  const auto n = static_cast<double>(samples.size());
  for (const OfflineSample& one : samples) {
    const double a = x.of(one.cycles), b = z.of(one.offline), c = one.value - y.mean;
    xx += a * a / n;
    zz += b * b / n;
    xz += a * b / n;
    xy += a * c / n;
    zy += b * c / n;
  }
  const double det = xx * zz - xz * xz;
  out.perCycle = (xy * zz - zy * xz) / det / x.sigma;
  out.perOffline = (zy * xx - xy * xz) / det / z.sigma;
  out.constant = y.mean - out.perCycle * x.mean - out.perOffline * z.mean;
  double residual = 0, total = 0;
  for (const OfflineSample& one : samples) {
    const double error = one.value - out.alone(one.cycles) - out.perOffline * one.offline;
    residual += error * error;
    total += (one.value - y.mean) * (one.value - y.mean);
  }
  out.sigma = std::sqrt(residual / n);
  out.r2 = total > 0 ? 1 - residual / total : 0;
  return out;
}

double OfflineFit::attributed(const OfflineSample& seen) const {
  const double excess = seen.value - alone(seen.cycles);
  if (excess <= 0) return 0;
  return std::clamp(perOffline * seen.offline / excess, 0.0, 1.0);
}

}  // namespace mangrove::agent::interference
