#pragma once
// ImageLocality: prefers nodes that have the pod's images, weighted by size and by how many nodes
// have them, so that one warm node does not attract everybody.

#include "placement/framework/plugin.h"

namespace mangrove::placement {

// 100·(sum−min)/(max−min), min 23 MiB, max 1000 MiB per container.
int64_t imageScore(int64_t sum, int64_t containers);
// Without tag: ":latest".
std::string imageName(std::string_view image);

Result<std::unique_ptr<Plugin>> makeImageLocality(const json::Value& args, PluginHandle handle);

}  // namespace mangrove::placement
