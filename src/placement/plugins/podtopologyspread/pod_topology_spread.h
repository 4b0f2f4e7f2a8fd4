#pragma once
// PodTopologySpread: keeps pods of one kind apart over zones, hosts or any other label.

#include "placement/framework/plugin.h"

namespace mangrove::placement {

Result<std::unique_ptr<Plugin>> makePodTopologySpread(const json::Value& args, PluginHandle handle);

}  // namespace mangrove::placement
