#include "up/one_machine.h"

#include "api/object/own_runner.h"
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
  return nodes.size() == 1 && api::isRunByUs(nodes[0]);
}

}  // namespace mangrove::up
