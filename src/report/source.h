#pragma once
// Where the latencies of a window come from: a histogram that is scraped before and after, a probe
// of our own, or a log that grows.
//
//   auto source = makeSource(loop, {.prometheus = "http://10.0.0.7:8080/metrics", .histogram = …});
//   source->begin();
//   …                                        // the window
//   Result<Seen> seen = source->end();
//
// One owner; not thread-safe. The loop outlives its sources.

#include <memory>
#include <string>

#include "base/number/units.h"
#include "base/result.h"
#include "net/loop.h"
#include "report/latency.h"

namespace mangrove::report {

struct SourceOptions {
  std::string prometheus;  // URL of a metrics page
  std::string histogram;   // name without _bucket
  std::string labels;      // text its labels must contain
  double scale = 1000;     // its unit in ms
  std::string probe;       // URL that is asked
  double probeRate = 20;   // a second
  std::string log;         // file
  LogFormat format;
};

struct Seen {
  uint64_t requests = 0;
  double p50 = 0, p99 = 0;  // ms
};

class LatencySource {
 public:
  virtual ~LatencySource() = default;
  virtual Result<> begin() = 0;
  virtual Result<Seen> end() = 0;
};
// kInvalid unless exactly one of prometheus, probe and log is named.
Result<std::unique_ptr<LatencySource>> makeSource(net::Loop& loop, const SourceOptions& options);

}  // namespace mangrove::report
