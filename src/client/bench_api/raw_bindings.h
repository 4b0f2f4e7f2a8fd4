#pragma once
// How many bindings a second a server takes from a client that decides nothing: the mark that a
// scheduler on the same server is held against. The generator is that of `mangrove bench api`; one
// watch of all pods is open meanwhile, as every scheduler has one.
//
//   auto raw = measureRawBindings(config, {.pods = 5000, .create = …, .bind = …});
//   raw->seconds, raw->counted
//
// The pods are those of `create`, in the namespace kRawNamespace; they are gone afterwards. Blocks.

#include <functional>

#include "client/bench_api/load.h"
#include "client/kubeconfig.h"

namespace mangrove::client {

inline constexpr std::string_view kRawNamespace = "bench-raw";

struct RawBindingPlan {
  int64_t pods = 5000;
  int64_t inFlight = 64;
  std::function<Request(int64_t)> create = {};
  std::function<Request(int64_t)> bind = {};
};

Result<LoadResult> measureRawBindings(const ClientConfig& config, const RawBindingPlan& plan);

}  // namespace mangrove::client
