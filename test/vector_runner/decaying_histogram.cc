// Samples → percentiles, checkpoint, percentiles after restoring it.
#include "stats/decaying_histogram.h"

#include <fmt/core.h>

#include "base/text/time_text.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {
namespace {

constexpr double kNear = 1e-9;

stats::HistogramOptions optionsOf(const json::Object& c) {
  const auto seconds = static_cast<int64_t>(number(c, "half_life_seconds"));
  return {
      stats::ExponentialBuckets(number(c, "max"), number(c, "first_bucket"), number(c, "growth")),
      std::chrono::seconds(seconds)};
}

stats::DecayingHistogram learn(const json::Object& c) {
  stats::DecayingHistogram histogram(optionsOf(c));
  for (const json::Value& sample : member(c, "samples").get_array()) {
    const json::Object& s = sample.get_object();
    const auto time = parseTime(text(s, "time"));
    histogram.add(number(s, "value"), number(s, "weight"), time.value());
  }
  return histogram;
}

void comparePercentiles(std::string_view field, const json::Value& want,
                        const stats::DecayingHistogram& histogram, Report& r) {
  for (const json::Value& pair : want.get_array()) {
    const double q = pair.at(0).to_number<double>();
    r.expectNear(fmt::format("{}[{}]", field, q), pair.at(1).to_number<double>(),
                 histogram.percentile(q), kNear);
  }
}

void compareCheckpoint(const json::Object& want, const stats::HistogramCheckpoint& got, Report& r) {
  json::Object weights;
  for (const auto& [bucket, weight] : got.bucketWeights)
    weights[fmt::format("{}", bucket)] = weight;
  r.expect("checkpoint.referenceTimestamp", member(want, "referenceTimestamp"),
           json::Value(formatTime(got.referenceTimestamp)));
  r.expect("checkpoint.bucketWeights", member(want, "bucketWeights"), weights);
  r.expectNear("checkpoint.totalWeight", number(want, "totalWeight"), got.totalWeight, kNear);
}

}  // namespace

void decayingHistogram(const json::Object& c, Report& r) {
  const json::Object& want = member(c, "expect").get_object();
  const stats::DecayingHistogram histogram = learn(c);
  r.expect("empty", member(want, "empty"), histogram.empty());
  comparePercentiles("percentiles", member(want, "percentiles"), histogram, r);
  const auto checkpoint = histogram.checkpoint();
  compareCheckpoint(member(want, "checkpoint").get_object(), checkpoint, r);
  auto restored = stats::DecayingHistogram::restore(optionsOf(c), checkpoint);
  if (!restored) return r.mismatch("restore", "no error", restored.error().text());
  comparePercentiles("percentiles_after_restore", member(want, "percentiles_after_restore"),
                     *restored, r);
}

}  // namespace mangrove::vectors
