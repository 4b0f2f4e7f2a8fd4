#pragma once
// Coscheduling: gangs. Members of a group of gangs start together or not at all.
//
// One pending pod of a group stands in line for all of them. When its turn comes a strict group is
// decided whole (GroupTask): as many members as every gang needs get their places in one
// transaction, or nobody does. A group that is not strict, or any with placeWhole off, is tried
// member by member without others in between (NextPod); whoever has a node waits at Permit until
// every gang has enough, at most for the gang's waiting time.
//
// The books are GangBook; this is the plugin around them.

#include "placement/framework/plugin.h"

namespace mangrove::placement {

Result<std::unique_ptr<Plugin>> makeCoscheduling(const json::Value& args, PluginHandle handle);

}  // namespace mangrove::placement
