#include "up/one_machine.h"

#include "api/object/own_runner.h"
#include "base/os/files.h"
#include "json/value.h"

namespace mangrove::up {

namespace {

void letTheAgentJudgeLoad(placement::SchedulerConfig& config) {
  for (auto& profile : config.profiles)
    profile.args.try_emplace(
        "LoadAwareScheduling",
        json::Object{{"filterExpiredNodeMetrics", false},
                     {"usageThresholds", json::Object{{"cpu", 0}, {"memory", 95}}}});
}

}  // namespace

placement::SchedulerConfig oneMachineConfig() {
  auto config = placement::defaultConfig({"koord-scheduler", "default-scheduler"});
  letTheAgentJudgeLoad(config);
  return config;
}

Result<placement::SchedulerConfig> oneMachineConfig(const std::string& file) {
  if (file.empty()) return oneMachineConfig();
  auto text = readFile(file);
  if (!text) return pass(text.error());
  auto config = placement::readConfig(*text, file, placement::colocationProfile);
  if (!config) return config;
  letTheAgentJudgeLoad(*config);
  if (!config->kubeconfig.empty() || config->qps || config->burst)
    config->warnings.emplace_back(
        "clientConnection has no effect: the scheduler of mangrove up needs no connection");
  return config;
}

bool isOneMachine(std::span<const api::Node> nodes) {
  return nodes.size() == 1 && api::isRunByUs(nodes[0]);
}

}  // namespace mangrove::up
