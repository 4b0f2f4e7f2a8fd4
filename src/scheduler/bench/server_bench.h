#pragma once
// `mangrove bench scheduler` against a server, in this process or over HTTP: nodes and pods are
// created through the API, the whole Scheduler runs with its watches, and the time until every
// measured pod has its binding confirmed is taken. Blocks; must not run on the server's own thread.

#include "client/api_client.h"
#include "scheduler/bench/bench.h"

namespace mangrove::scheduler {

// `mode` is what the result is called: "api" or "http". What was created is deleted afterwards.
Result<std::vector<BenchResult>> runServerBench(client::ApiClient& client, std::string_view mode,
                                                const BenchOptions& options);

}  // namespace mangrove::scheduler
