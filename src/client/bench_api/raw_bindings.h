#pragma once
// How many pods a second a server takes from a client that decides nothing: the mark that a
// scheduler on the same server is held against. The generator is that of `mangrove bench api`; one
// watch of all pods is open meanwhile, as every scheduler has one.
//
//   auto raw = measureRawBindings(config, {.pods = 5000, .prepare = …, .writes = …});
//   raw->seconds, raw->counted, raw->used.clientSeconds
//
// `prepare` makes what a pod needs, uncounted; `writes` are the requests that a scheduler sends for
// it, in most cases its binding alone. Everything must be in the namespace kRawNamespace, whose
// pods are gone afterwards. Blocks.

#include <functional>

#include "client/bench_api/load.h"
#include "client/kubeconfig.h"

namespace mangrove::client {

inline constexpr std::string_view kRawNamespace = "bench-raw";

struct RawBindingPlan {
  int64_t pods = 5000;
  int64_t inFlight = 64;
  std::function<Chain(int64_t)> prepare = {};
  std::function<Chain(int64_t)> writes = {};
};

Result<LoadResult> measureRawBindings(const ClientConfig& config, const RawBindingPlan& plan);

}  // namespace mangrove::client
