#pragma once
// `mangrove bench reports`: what the reports of many nodes cost an API server over a day, in the
// reference's rhythm and in ours, and how far what is sold by them differs.
//
// A few nodes live a day in made time (agent/bench/report_day.h) and say how many reports an hour has and
// what is in them; the server then takes real ones of each kind, on as many objects as asked for, with
// watchers as managers and schedulers are, and says what one costs. The rest is multiplication.
//
//   auto result = runReportBench({.nodes = 5000, .kubeconfig = "…", .serverPids = {1, 2}});
//
// Blocks; one thread.

#include <cstdint>
#include <string>
#include <vector>

#include "agent/bench/report_day.h"
#include "base/result.h"

namespace mangrove::cli {

struct ReportBenchOptions {
  int64_t nodes = 5000;   // objects on the server
  int64_t distinct = 10;  // of them lived through, of each shape
  Duration length = std::chrono::hours(24);
  int64_t pods = 20;
  int64_t rounds = 3;     // of each kind of report on the server; 0: no server
  int64_t writes = 1000;  // of one round
  int64_t watchers = 2;
  int64_t inFlight = 16;
  int64_t seed = 1;
  std::string kubeconfig = {};           // "": a server of our own
  std::vector<int64_t> serverPids = {};  // whose CPU counts; ours is known
  std::string dir = {};                  // of our own server's data; "": /tmp
};

struct ReportBenchRow {
  agent::ReportShape shape{};
  agent::Rhythm rhythm{};
  double reportsAnHour = 0;  // of a node
  double bytesOfOne = 0;
  double longestGapSeconds = 0;
  agent::SoldGap gap;           // against the reference's rhythm
  double cpuMillisOfOne = 0;    // of the server; the median of the rounds
  double cpuSecondsAnHour = 0;  // of the server, for a node
  double ofReference = 0;       // of what the reference's rhythm costs
};

struct ReportBenchResult {
  std::string server;  // "": none was asked
  ReportBenchOptions options;
  std::vector<ReportBenchRow> rows;
};

Result<ReportBenchResult> runReportBench(const ReportBenchOptions& options);
std::string toTable(const ReportBenchResult& result);
std::string toJson(const ReportBenchResult& result);

}  // namespace mangrove::cli
