#pragma once
// `mangrove bench manager`: how long a fresh manager takes until every node of a large cluster
// shows the right amount for sale, what that costs, and what it does when nothing changes. The
// manager and the server are processes of their own, so that their CPU and memory are theirs alone.
//
//   auto result = runManagerBench({.program = exe, .nodes = 5000});
//
// Blocks; one thread.

#include <cstdint>
#include <string>

#include "base/result.h"

namespace mangrove::cli {

struct ManagerBenchOptions {
  std::string kubeconfig = {};  // "": a server of our own
  std::string context = {};
  std::string program = {};  // the binary that has `manager` and `apiserver`; "": this one
  std::string dir = {};      // where our server keeps its data; "": /tmp
  int64_t nodes = 5000;
  int64_t podsPerNode = 10;  // in each NodeMetric
  int64_t inFlight = 64;     // of the raw measurement
  int64_t restSeconds = 20;
  int64_t rounds = 3;  // raw rate and a fresh manager in turn
};

struct ManagerBenchResult {
  std::string server;
  int64_t nodes = 0;
  // Medians of the rounds.
  double rawPatchesPerSecond = 0;  // the same kind of write, sent by a loop that does nothing else
  double nodesPerSecond = 0;       // between the first and the last right node
  double ofRawPercent = 0;         // of the raw rate measured just before
  double ofRawLeast = 0, ofRawMost = 0;
  double rightCpuMillisPerNode = 0;  // of the manager, from exec to all nodes right
  // The first round, in which NodeSLOs are written too.
  double firstRightSeconds = 0;      // from exec to the first node being right
  double allRightSeconds = 0;        // from exec to all nodes being right
  double settledSeconds = 0;         // NodeSLOs written as well
  double fillCpuMillisPerNode = 0;   // of the manager, from exec to settled
  int64_t nodeWrites = 0;            // changes of node objects seen until settled
  int64_t wrongValues = 0;           // changes in all rounds that showed a wrong amount on the way
  double roundCpuMillisPerNode = 0;  // all NodeMetrics reported again, nothing relevant changed
  int64_t roundWrites = 0;
  double restCpuPercent = 0;  // of one core, nobody reporting
  double restWritesPerMinute = 0;
  int64_t rssBytes = 0;
  int64_t pssBytes = 0;
};

Result<ManagerBenchResult> runManagerBench(const ManagerBenchOptions& options);
std::string toTable(const ManagerBenchResult& result);
std::string toJson(const ManagerBenchResult& result);

}  // namespace mangrove::cli
