#pragma once
// A closed loop: always the same number of requests under way, until all have been answered. The
// next request leaves from the thread that brought the answer, so that the generator costs little.
//
//   LoadResult creates = runLoad(clients, probe, {.operations = 2000, .inFlight = 64},
//                                [&](int64_t i) { return createPod(ns, i); });
//
// runChains() does the same with operations of several requests each: one after the other, and the
// operation is answered when its last request is, or the first that fails.
//
// Blocks.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/api_client.h"
#include "client/bench/api/process_probe.h"

namespace mangrove::client {

struct LoadPlan {
  int64_t operations = 0;
  int64_t inFlight = 64;
  bool warmUp = true;  // the first tenth is not counted
};

struct LoadResult {
  int64_t counted = 0;
  int64_t failed = 0;
  std::string firstFailure;
  double seconds = 0;
  std::vector<double> millis;  // sorted
  CpuReading used;             // between the first and the last counted answer
};

using Clients = std::vector<std::unique_ptr<ApiClient>>;
using Chain = std::vector<Request>;
LoadResult runLoad(const Clients& clients, const ProcessProbe& probe, const LoadPlan& plan,
                   std::function<Request(int64_t)> make);
LoadResult runChains(const Clients& clients, const ProcessProbe& probe, const LoadPlan& plan,
                     std::function<Chain(int64_t)> make);

}  // namespace mangrove::client
