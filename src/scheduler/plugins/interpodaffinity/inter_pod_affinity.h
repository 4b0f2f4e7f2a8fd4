#pragma once
// InterPodAffinity: pods that want to be near, or away from, other pods.

#include "scheduler/framework/plugin.h"

namespace mangrove::scheduler {

Result<std::unique_ptr<Plugin>> makeInterPodAffinity(const json::Value& args, PluginHandle handle);

}  // namespace mangrove::scheduler
