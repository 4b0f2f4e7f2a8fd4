#pragma once
// Latencies as services show them: Prometheus histograms and log lines. Pure; any thread.
//
//   auto before = readHistogram(text, "http_request_duration_seconds", "route=\"/\"");
//   auto after = …;
//   quantileOf(difference(*after, *before), 0.99)           // seconds
//   latenciesOf(lines, {.key = "duration_ms"})              // ms, one per line that has one

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mangrove::report {

// A number with nothing behind it; "+Inf" and the like included.
std::optional<double> parseNumber(std::string_view text);

// Upper bound of a bucket -> how many were at or below it, all matching series together.
using Buckets = std::map<double, double>;
// `labels`: text that the series' labels must contain, e.g. method="GET"; "" takes all. kNotFound
// names what is there instead.
Result<Buckets> readHistogram(std::string_view text, std::string_view name,
                              std::string_view labels);
// What came between two readings. A counter that fell was restarted: the later reading counts.
Buckets difference(const Buckets& after, const Buckets& before);
double countOf(const Buckets& buckets);
// Evenly within the bucket, as Prometheus does; nullopt when empty. Beyond the last finite bound:
// that bound.
std::optional<double> quantileOf(const Buckets& buckets, double q);

struct LogFormat {
  std::string key;  // of a JSON line, or of key=value words
  int64_t field =
      0;  // else: so many blank-separated words in, counted from 1; negative: from the end
  double toMillis = 1;  // 1000 for seconds, 0.001 for microseconds
};
std::vector<double> latenciesOf(std::string_view lines, const LogFormat& format);

}  // namespace mangrove::report
