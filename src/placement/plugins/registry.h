#pragma once
// All plugins of this version, by name, from plugins.def.

#include <span>

#include "placement/framework/plugin.h"

namespace mangrove::placement {

std::span<const PluginEntry> pluginEntries();

}  // namespace mangrove::placement
