#pragma once
// `mangrove bench webhook`: the HTTPS server with many profiles, asked at a steady rate on the
// loopback as an API server would, then with everything that must get a clear answer: 3 MiB pods
// and malformed reviews.
//
//   auto result = runWebhookBench({.profiles = 10000, .rate = 1000, .seconds = 5});
//   fmt::print("{}", toTable(*result));
//
// Blocks; one caller at a time.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace mangrove::manager {

struct WebhookBenchOptions {
  int64_t profiles = 10'000;
  int64_t rate = 1000;  // pods a second; each is asked about twice, mutating and validating
  int64_t seconds = 5;
};

struct BenchLatency {
  double p50 = 0, p99 = 0, p999 = 0, worst = 0;  // milliseconds
  int64_t count = 0;
};

// One question that is not a usual one.
struct BenchOddity {
  std::string name;
  int status = 0;  // HTTP
  double milliseconds = 0;
  std::string answer;  // its beginning
  bool clear = false;  // as it should be
};

struct WebhookBenchResult {
  WebhookBenchOptions options;
  double indexMilliseconds = 0;  // building the index of all profiles
  double reached = 0;            // pods a second
  int64_t changed = 0;           // pods that got batch resources
  int64_t wrong = 0;             // answers that were not as expected
  BenchLatency handler;          // from the last byte of a review to the answer
  BenchLatency roundTrip;        // as the client sees it
  BenchLatency cpu;              // processor time of one review, read to written, without a network
  std::vector<BenchOddity> oddities;
};

Result<WebhookBenchResult> runWebhookBench(const WebhookBenchOptions& options);
std::string toTable(const WebhookBenchResult& result);
std::string toJson(const WebhookBenchResult& result);

}  // namespace mangrove::manager
