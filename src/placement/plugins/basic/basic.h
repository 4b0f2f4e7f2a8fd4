#pragma once
// The small default plugins: NodeUnschedulable, NodeName, TaintToleration, NodePorts,
// SchedulingGates, our own BestEffortPause, and names without code of their own (PrioritySort,
// DefaultBinder, DefaultPreemption: the core does their work, the name switches it on).

#include "placement/framework/plugin.h"

namespace mangrove::placement {

Result<std::unique_ptr<Plugin>> makeNodeUnschedulable(const json::Value& args, PluginHandle handle);
Result<std::unique_ptr<Plugin>> makeBestEffortPause(const json::Value& args, PluginHandle handle);
Result<std::unique_ptr<Plugin>> makeNodeName(const json::Value& args, PluginHandle handle);
Result<std::unique_ptr<Plugin>> makeTaintToleration(const json::Value& args, PluginHandle handle);
Result<std::unique_ptr<Plugin>> makeNodePorts(const json::Value& args, PluginHandle handle);
Result<std::unique_ptr<Plugin>> makeSchedulingGates(const json::Value& args, PluginHandle handle);
Result<std::unique_ptr<Plugin>> makePrioritySort(const json::Value& args, PluginHandle handle);
Result<std::unique_ptr<Plugin>> makeDefaultBinder(const json::Value& args, PluginHandle handle);
Result<std::unique_ptr<Plugin>> makeDefaultPreemption(const json::Value& args, PluginHandle handle);
Result<std::unique_ptr<Plugin>> makeDefaultPreBind(const json::Value& args, PluginHandle handle);

}  // namespace mangrove::placement
