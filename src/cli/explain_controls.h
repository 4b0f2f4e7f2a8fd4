#pragma once
// Asks a node's agent what it holds, for `mangrove explain node` and `mangrove explain pod`.

#include <string>

#include "api/node.h"
#include "base/result.h"
#include "json/value.h"
#include "net/loop.h"

namespace mangrove::cli {

// `said`: --agent; "" is the node's internal address and the agent's usual port.
std::string agentAddress(const std::string& said, const api::Node& node);
// The agent's /controls.
Result<json::Value> askAgent(net::Loop& loop, const std::string& address);

}  // namespace mangrove::cli
