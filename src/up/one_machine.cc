#include "up/one_machine.h"

#include "json/value.h"

namespace mangrove::up {

placement::SchedulerConfig oneMachineConfig() {
  auto config = placement::defaultConfig({"koord-scheduler", "default-scheduler"});
  for (auto& profile : config.profiles)
    profile.args["LoadAwareScheduling"] =
        json::Object{{"filterExpiredNodeMetrics", false},
                     {"usageThresholds", json::Object{{"cpu", 0}, {"memory", 95}}}};
  return config;
}

bool isOneMachine(std::span<const api::Node> nodes) {
  return nodes.size() == 1 &&
         nodes[0].status.info.kubeletVersion.view().find("-mangrove") != std::string_view::npos;
}

}  // namespace mangrove::up
