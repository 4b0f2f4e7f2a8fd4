#pragma once
// From the command line to the enforcing half: `mangrove agent` alone speaks flags, whoever else
// runs the agent says EnforcementOptions.

#include "agent/flags.h"
#include "agent/qos/enforcement.h"
#include "frame/role.h"

namespace mangrove::agent {

EnforcementOptions enforcementOptions(const AgentFlags& flags);

// --restore: works without an API server.
Result<> restoreAndQuit(const AgentFlags& flags, frame::RoleContext& context);

}  // namespace mangrove::agent
