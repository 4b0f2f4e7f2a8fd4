#pragma once
// How the scheduler of `mangrove up` judges, for itself and for those who explain it.
//
//   if (up::isOneMachine(nodes)) config = up::oneMachineConfig();
//
// Pure; any thread.

#include <span>
#include <string>

#include "api/object/node.h"
#include "placement/config/config.h"

namespace mangrove::up {

// With one machine there is nowhere else to go: a busy CPU is the agent's business, and only a
// machine that runs out of memory refuses pods.
placement::SchedulerConfig oneMachineConfig();
// Rules of a file: profiles that name no plugins have all of ours, and those that say nothing about
// load are judged as above. Warnings tell what has no effect here. "" is no file.
Result<placement::SchedulerConfig> oneMachineConfig(const std::string& file);
// One node, and it is run by our node runner.
bool isOneMachine(std::span<const api::Node> nodes);

}  // namespace mangrove::up
