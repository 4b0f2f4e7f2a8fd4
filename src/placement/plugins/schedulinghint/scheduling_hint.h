#pragma once
// SchedulingHint: an annotation of the pod that pins it to nodes, or names nodes to try first.

#include "placement/framework/plugin.h"

namespace mangrove::placement {

Result<std::unique_ptr<Plugin>> makeSchedulingHint(const json::Value& args, PluginHandle handle);

}  // namespace mangrove::placement
