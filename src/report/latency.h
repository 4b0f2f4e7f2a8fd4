#pragma once
// Latencies as services show them: Prometheus histograms and log lines. Pure; any thread.
//
//   auto before = readHistogram(text, "http_request_duration_seconds", "route=\"/\"");
//   auto after = …;
//   quantileOf(difference(*after, *before), 0.99)           // seconds
//   latenciesOf(lines, {.key = "duration_ms"})              // ms, one per line that has one

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stats/histogram_text.h"

namespace mangrove::report {

using stats::Buckets;
using stats::countOf;
using stats::difference;
using stats::parseNumber;
using stats::quantileOf;
using stats::readHistogram;

struct LogFormat {
  std::string key;  // of a JSON line, or of key=value words
  int64_t field =
      0;  // else: so many blank-separated words in, counted from 1; negative: from the end
  double toMillis = 1;  // 1000 for seconds, 0.001 for microseconds
};
std::vector<double> latenciesOf(std::string_view lines, const LogFormat& format);

}  // namespace mangrove::report
