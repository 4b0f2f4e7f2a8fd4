#pragma once
// LoadAwareScheduling: keeps pods off nodes that are measured to be busy, counting what has just
// been placed there by estimate until the measurements have caught up.

#include "placement/framework/plugin.h"

namespace mangrove::placement {

Result<std::unique_ptr<Plugin>> makeLoadAware(const json::Value& args, PluginHandle handle);

}  // namespace mangrove::placement
