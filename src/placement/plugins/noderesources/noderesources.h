#pragma once
// NodeResourcesFit and NodeResourcesBalancedAllocation, and the two of the reference that score
// resources: NodeResourcesFitPlus and ScarceResourceAvoidance. Rules: docs/scheduler.md.

#include "placement/framework/plugin.h"

namespace mangrove::placement {

Result<std::unique_ptr<Plugin>> makeNodeResourcesFit(const json::Value& args, PluginHandle handle);
Result<std::unique_ptr<Plugin>> makeBalancedAllocation(const json::Value& args,
                                                       PluginHandle handle);
Result<std::unique_ptr<Plugin>> makeNodeResourcesFitPlus(const json::Value& args,
                                                         PluginHandle handle);
Result<std::unique_ptr<Plugin>> makeScarceResourceAvoidance(const json::Value& args,
                                                            PluginHandle handle);

}  // namespace mangrove::placement
