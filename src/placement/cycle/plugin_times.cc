#include "placement/cycle/plugin_times.h"

namespace mangrove::placement {

void PluginTimes::add(const Plugin& plugin, Point point, bool good, Duration took) {
  const auto [at, isNew] = handles_.try_emplace({&plugin, point, good});
  if (isNew)
    at->second = family_.with({std::string(plugin.name()), std::string(pointName(point)),
                               good ? "Success" : "Unschedulable"});
  at->second.observe(std::chrono::duration<double>(took).count());
}

}  // namespace mangrove::placement
