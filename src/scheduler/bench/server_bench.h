#pragma once
// `mangrove bench scheduler` against a server, in this process or over HTTP: nodes and pods are
// created through the API, the whole Scheduler runs with its watches, and the time is taken from
// when a slice of pods waits in its queue to when the last binding of them is confirmed. Over HTTP
// slices of the server's raw rate for the case (raw_case.h) are taken by turns with it (turns.h);
// the scheduler's watch of pods is open meanwhile, and nobody reads it. Blocks; must not run on the
// server's own thread.

#include <functional>

#include "client/api_client.h"
#include "client/http/kubeconfig.h"
#include "scheduler/bench/raw_case.h"

namespace mangrove::scheduler {

// Who tells what the server takes without a scheduler; null: not measured.
using ConnectRaw = std::function<Result<std::unique_ptr<RawSide>>(const BenchCase&)>;

// `mode` is what the result is called: "api" or "http". What was created is deleted afterwards.
Result<std::vector<BenchResult>> runServerBench(client::ApiClient& client, std::string_view mode,
                                                const BenchOptions& options,
                                                const ConnectRaw& connectRaw = {});
Result<std::vector<BenchResult>> runHttpBench(const client::ClientConfig& config,
                                              const BenchOptions& options);

}  // namespace mangrove::scheduler
