#pragma once
// metrics.k8s.io: what nodes and pods use, for `kubectl top` and whoever asks a metrics server. The
// answers come from the agent of this machine, over the last half minute; nothing is stored.

#include <memory>

#include "apiserver/core/server.h"
#include "workloads/autoscaler/usage_board.h"

namespace mangrove::up {

void serveMeasurements(apiserver::Server& server,
                       const std::shared_ptr<const workloads::UsageBoard>& board);

}  // namespace mangrove::up
