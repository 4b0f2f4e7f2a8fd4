#pragma once
// `mangrove bench api`: what an API server can do, measured through the ordinary client over TLS.
// It starts a server of its own, or drives any other one that a kubeconfig names, so that ratios
// can be taken in one run on one box.
//
//   auto result = runApiBench({.program = exe});             // our server, fresh directory
//   auto other = runApiBench({.kubeconfig = "kube.config", .serverPids = {1234, 1240}});
//   fmt::print("{}", toTable(*result));                      // or toJson(result)
//
// Closed loop: `inFlight` requests are always under way. Writes are counted when the server has
// acknowledged them. The first tenth of each phase is thrown away. Everything that was created on a
// foreign server is removed at the end. Blocks; one thread.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace mangrove::client {

struct ApiBenchOptions {
  std::string kubeconfig = {};  // "": a server of our own
  std::string context = {};
  std::string program = {};              // the binary that has `apiserver`; for our own server
  std::string dir = {};                  // where our server keeps its data; "": $TMPDIR or /tmp
  std::vector<int64_t> serverPids = {};  // whose CPU and memory count; ours is known
  int64_t nodes = 5000;
  int64_t pods = 5000;  // in all, spread over the runs
  int64_t runs = 3;
  int64_t inFlight = 64;
  int64_t watchers = 100;
  int64_t fanOutWrites = 300;
  int64_t starts = 5;  // of our own server, on a fresh and on the filled directory
};

// Median of the runs with the lowest and the highest.
struct Spread {
  double median = 0, low = 0, high = 0;
};

struct ApiMeasure {
  std::string name;
  int64_t operations = 0;  // of one run, warm-up left out
  int64_t failed = 0;
  std::string firstFailure = {};
  Spread perSecond;
  Spread p50Millis, p99Millis;
  Spread serverCpuMicros;  // per operation; 0: unknown
  Spread clientCpuMicros;  // of the load generator
  Spread neighbours;       // share of the machine's CPUs that others used meanwhile
};

struct MemoryMeasure {
  std::string when;
  int64_t rssBytes = 0;
  int64_t pssBytes = 0;
};

struct StartMeasure {
  std::string what;      // "fresh directory", "5000 nodes and 5000 pods"
  Spread healthMillis;   // from exec to the first 200 of /readyz
  Spread requestMillis;  // … to the first 200 of a real list
  Spread cpuMillis;      // of the server until then: what a busy machine cannot falsify
};

struct ApiBenchResult {
  std::string server;
  std::string version;  // gitVersion of the server
  ApiBenchOptions options;
  std::vector<ApiMeasure> measures;
  std::vector<MemoryMeasure> memory;
  std::vector<StartMeasure> starts;
  std::string loadBefore, loadAfter;  // the machine's load averages
};

Result<ApiBenchResult> runApiBench(const ApiBenchOptions& options);
std::string toTable(const ApiBenchResult& result);
std::string toJson(const ApiBenchResult& result);

}  // namespace mangrove::client
