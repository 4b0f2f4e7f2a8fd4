#include "placement/plugins/registry.h"

#include <array>

namespace mangrove::placement {

#define PLUGIN(make, name, points) \
  Result<std::unique_ptr<Plugin>> make(const json::Value& args, PluginHandle handle);
#include "placement/plugins/plugins.def"
#undef PLUGIN

namespace {

using namespace point;

constexpr std::array kPlugins = {
#define PLUGIN(make, name, points) PluginEntry{name, points, &make},
#include "placement/plugins/plugins.def"
#undef PLUGIN
};

}  // namespace

std::span<const PluginEntry> pluginEntries() {
  return kPlugins;
}

}  // namespace mangrove::placement
