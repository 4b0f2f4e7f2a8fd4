#pragma once
// The store's side of /metrics: how long commits take, how many share one fsync, how many objects
// there are; and the path itself, which needs a credential like every other. Owner thread.

#include <functional>

#include "apiserver/core/server.h"
#include "store/batch_report.h"

namespace mangrove::apiserver {

// For store::Options::onBatch.
std::function<void(const store::BatchReport&)> batchMetrics(Registry& metrics);
void serveMetrics(Server& server, Context& context);

}  // namespace mangrove::apiserver
