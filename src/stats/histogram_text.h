#pragma once
// Histograms as services expose them to Prometheus. Pure; any thread.
//
//   auto before = readHistogram(text, "http_request_duration_seconds", "route=\"/\"");
//   auto after = …;
//   quantileOf(difference(*after, *before), 0.99)           // seconds

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mangrove::stats {

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

}  // namespace mangrove::stats
