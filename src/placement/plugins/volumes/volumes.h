#pragma once
// The volume plugins of Kubernetes: VolumeRestrictions, NodeVolumeLimits, VolumeBinding,
// VolumeZone.

#include "placement/framework/plugin.h"

namespace mangrove::placement {

Result<std::unique_ptr<Plugin>> makeVolumeRestrictions(const json::Value& args,
                                                       PluginHandle handle);
Result<std::unique_ptr<Plugin>> makeNodeVolumeLimits(const json::Value& args, PluginHandle handle);
Result<std::unique_ptr<Plugin>> makeVolumeBinding(const json::Value& args, PluginHandle handle);
Result<std::unique_ptr<Plugin>> makeVolumeZone(const json::Value& args, PluginHandle handle);

}  // namespace mangrove::placement
