#pragma once
// How the scheduler of `mangrove up` judges, for itself and for those who explain it.
//
//   if (up::isOneMachine(nodes)) config = up::oneMachineConfig();
//
// Pure; any thread.

#include <span>

#include "api/object/node.h"
#include "placement/config/config.h"

namespace mangrove::up {

// With one machine there is nowhere else to go: a busy CPU is the agent's business, and only a
// machine that runs out of memory refuses pods.
placement::SchedulerConfig oneMachineConfig();
// One node, and it is run by our node runner.
bool isOneMachine(std::span<const api::Node> nodes);

}  // namespace mangrove::up
