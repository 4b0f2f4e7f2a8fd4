#pragma once
// InterPodAffinity: pods that want to be near, or away from, other pods.

#include "placement/framework/plugin.h"

namespace mangrove::placement {

Result<std::unique_ptr<Plugin>> makeInterPodAffinity(const json::Value& args, PluginHandle handle);

}  // namespace mangrove::placement
