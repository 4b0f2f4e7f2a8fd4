#pragma once
// `mangrove bench scheduler` against a server, in this process or over HTTP: nodes and pods are
// created through the API, the whole Scheduler runs with its watches, all measured pods wait before
// the first is tried, and the time in which the last nine tenths of them get their bindings
// confirmed is taken. Over HTTP the server's raw rate for the case (raw_case.h) is measured before
// and after it, its first tenth left out as well. Blocks; must not run on the server's own thread.

#include <functional>

#include "client/api_client.h"
#include "client/kubeconfig.h"
#include "scheduler/bench/raw_case.h"

namespace mangrove::scheduler {

// What the server takes without a scheduler, on the nodes that exist; null: not measured.
using RawRate = std::function<Result<RawResult>(const BenchCase&)>;

// `mode` is what the result is called: "api" or "http". What was created is deleted afterwards.
Result<std::vector<BenchResult>> runServerBench(client::ApiClient& client, std::string_view mode,
                                                const BenchOptions& options,
                                                const RawRate& raw = {});
Result<std::vector<BenchResult>> runHttpBench(const client::ClientConfig& config,
                                              const BenchOptions& options);

}  // namespace mangrove::scheduler
