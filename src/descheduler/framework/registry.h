#pragma once
// The explicit list of plugins that deschedule or balance, each made from its arguments.

#include <string_view>

#include "descheduler/plugin.h"
#include "json/value.h"

namespace mangrove::descheduler {

// `interval`: between two cycles, for plugins that count looks.
Result<PluginPtr> makePlugin(std::string_view name, const json::Value& args, Duration interval);

}  // namespace mangrove::descheduler
