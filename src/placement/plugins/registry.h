#pragma once
// All plugins of this version, by name, from plugins.def.

#include <span>

#include "placement/framework/plugin.h"

namespace mangrove::placement {

std::span<const PluginEntry> pluginEntries();
// Names the reference knows that have no code here yet.
std::span<const std::string_view> unbuiltPlugins();

}  // namespace mangrove::placement
