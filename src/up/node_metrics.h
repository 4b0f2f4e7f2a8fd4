#pragma once
// What a kubelet tells about its node and pods, from the agent's own measurements:
// /metrics/resource, the part of /metrics/cadvisor that everybody reads, /stats/summary. Reached
// through the API server: nodes/NAME/proxy/metrics/resource.
//
//   std::string text = resourceMetrics(board->nodes(), board->pods());
//
// Pure but for the last; any thread.

#include <memory>
#include <string>
#include <vector>

#include "apiserver/core/server.h"
#include "json/value.h"
#include "workloads/autoscaler/usage_board.h"

namespace mangrove::up {

using Measurements = std::vector<workloads::UsageBoard::Known>;

std::string resourceMetrics(const Measurements& nodes, const Measurements& pods);
std::string cadvisorMetrics(const Measurements& pods);
json::Object statsSummary(const Measurements& nodes, const Measurements& pods);

// Answers nodes/`node`/proxy/… for these three; everything else there is refused by name.
void serveNodeMetrics(apiserver::Server& server, const std::string& node,
                      const std::shared_ptr<const workloads::UsageBoard>& board);

}  // namespace mangrove::up
