#include "agent/predict/models.h"

#include <algorithm>
#include <cmath>

#include "base/number/elapsed.h"
#include "base/text/strings.h"

namespace mangrove::agent {
namespace {

Quantiles quantilesOf(const stats::DecayingHistogram& histogram) {
  return {histogram.percentile(0.6), histogram.percentile(0.9), histogram.percentile(0.95),
          histogram.percentile(0.98), histogram.percentile(1)};
}

double ratio(Duration a, Duration b) {
  return static_cast<double>(a.count()) / static_cast<double>(b.count());
}

}  // namespace

namespace model_key {
std::string ofBand(std::string_view band) {
  return fmt::format("__node-{}__", band);
}
std::string ofQos(std::string_view qos) {
  return fmt::format("__qos-{}__", qos);
}
bool isGroup(std::string_view key) {
  return key.starts_with("__") && key.ends_with("__");
}
}  // namespace model_key

double effectiveLessons(const stats::DecayingHistogram& histogram, WallTime now) {
  if (histogram.empty()) return 0;
  const Duration since = elapsed(histogram.reference(), now);
  return histogram.totalWeight() * std::exp2(-ratio(since, histogram.options().halfLife));
}

double lessonsNeeded(Duration coldStart, Duration interval, Duration halfLife) {
  constexpr double kCoverage = 0.5;
  const double perHalfLife = ratio(halfLife, interval);
  return kCoverage * perHalfLife / std::log(2) * (1 - std::exp2(-ratio(coldStart, halfLife)));
}

Duration leastSpan(const stats::DecayingHistogram& histogram, Duration interval, WallTime now) {
  const Duration halfLife = histogram.options().halfLife;
  // One lesson after the other for ever weighs so much; more is a rounding.
  const double most = ratio(halfLife, interval) / std::log(2);
  const double share = std::min(effectiveLessons(histogram, now) / most, 0.999);
  return std::chrono::duration_cast<Duration>(halfLife * -std::log2(1 - share));
}

Model Models::blank() const {
  return {stats::DecayingHistogram(stats::cpuHistogram(options_.cpuHalfLife)),
          stats::DecayingHistogram(stats::memoryHistogram(options_.memoryHalfLife)), kZeroTime,
          kZeroTime};
}

void Models::learn(std::string_view key, const Lesson& lesson, WallTime at) {
  auto it = models_.find(key);
  if (it == models_.end()) it = models_.emplace(std::string(key), blank()).first;
  it->second.cpu.add(lesson.cores, 1, at);
  it->second.memory.add(lesson.bytes, 1, at);
  it->second.updated = at;
  if (it->second.since != kZeroTime) return;
  it->second.since = at - std::chrono::duration_cast<WallTime::duration>(options_.trainingInterval);
}

const Model* Models::find(std::string_view key) const {
  auto it = models_.find(key);
  return it == models_.end() ? nullptr : &it->second;
}

void Models::remove(std::string_view key) {
  if (auto it = models_.find(key); it != models_.end()) models_.erase(it);
}

std::optional<Peak> Models::peak(std::string_view key) const {
  const Model* model = find(key);
  if (model == nullptr || model->cpu.empty() || model->memory.empty()) return std::nullopt;
  return Peak{MilliCpu{static_cast<int64_t>(model->cpu.percentile(0.95) * 1000)},
              Bytes{static_cast<int64_t>(model->memory.percentile(0.98))}};
}

std::optional<Peak> Models::trustedPeak(std::string_view key, WallTime now) const {
  const Model* model = find(key);
  if (model == nullptr) return std::nullopt;
  const auto enough = [&](const stats::DecayingHistogram& histogram) {
    return effectiveLessons(histogram, now) >= lessonsNeeded(options_.coldStart,
                                                             options_.trainingInterval,
                                                             histogram.options().halfLife);
  };
  const bool isOld = model->since != kZeroTime && elapsed(model->since, now) >= options_.coldStart;
  return isOld && enough(model->cpu) && enough(model->memory) ? peak(key) : std::nullopt;
}

std::optional<Quantiles> Models::cpuQuantiles(std::string_view key) const {
  const Model* model = find(key);
  return model == nullptr ? std::nullopt : std::optional(quantilesOf(model->cpu));
}

std::optional<Quantiles> Models::memoryQuantiles(std::string_view key) const {
  const Model* model = find(key);
  return model == nullptr ? std::nullopt : std::optional(quantilesOf(model->memory));
}

std::vector<std::string> Models::expire(WallTime now) {
  std::vector<std::string> gone;
  for (auto it = models_.begin(); it != models_.end();) {
    const bool old = elapsed(it->second.updated, now) > options_.expiry;
    if (old && !model_key::isGroup(it->first)) {
      gone.push_back(it->first);
      it = models_.erase(it);
    } else {
      ++it;
    }
  }
  return gone;
}

}  // namespace mangrove::agent
