#pragma once
// `mangrove demo`: a service and batch work on this machine, with real processes and cgroups, in
// short blocks of five conditions in random order; then what it cost and what it brought, with
// confidence intervals. Needs root.
//
//   return runDemo({.rounds = 12});           // exit code; prints as it goes
//
// Call it first thing in the main thread. An interruption ends it with nothing left behind.

#include <string>

#include "base/number/units.h"
#include "demo/findings.h"

namespace mangrove::demo {

struct DemoOptions {
  int64_t rounds = 12;  // hours of the compressed day; each has one block of every condition
  Duration length = std::chrono::milliseconds(3200);  // of a block's measured part
  Duration settle = std::chrono::milliseconds(400);   // before it
  double rate = 0;  // mean requests a second; 0: by the number of CPUs
  std::string service = "built-in";
  DiscardRule discard = {};
  int64_t seed = 1;
  std::string report = "report.html";
  std::string json;  // also written there, when named
};

// 0 fine, 1 it went wrong, 130 interrupted.
int runDemo(const DemoOptions& options);

}  // namespace mangrove::demo
