#include "agent/qos/system_config/strategy.h"

#include "agent/executor/owners.h"
#include "agent/qos/system_config/files.h"

namespace mangrove::agent {
namespace {

constexpr const char* kWhy = "systemStrategy of the NodeSLO";

// Shared with those who need the switch themselves.
bool isSwitch(const std::string& path) {
  return path.ends_with("sched_group_identity_enabled");
}

// Kernels from 5.13 on have the file in a folder.
std::string featuresFile(const Situation& now) {
  const kernel::Mounts& mounts = now.look.machine->mounts();
  for (const char* name : {"kernel/debug/sched/features", "kernel/debug/sched_features"})
    if (now.present.text(mounts.sysFile(name))) return mounts.sysFile(name);
  return "";
}

}  // namespace

StrategyInfo SystemConfig::info() const {
  return {.name = owner::kSystemConfig, .gate = "SystemConfig", .period = std::chrono::seconds(1)};
}

Wishes SystemConfig::decide(const Situation& now) {
  if (!now.look.slo || !now.node) return Wishes::holding("no NodeSLO or Node yet");
  Wishes out;
  const auto& strategy = now.look.slo->systemStrategy;
  if (!strategy) return out;
  const Bytes memory = now.node->status.capacity.memory();
  for (const auto& [path, value] : systemFiles(*strategy, memory, now.look.machine->mounts()))
    out.base(path, isSwitch(path) ? "switch" : "parameter", FileValue::of(std::stoll(value)), kWhy);
  if (strategy->schedFeatures.empty()) return out;
  const std::string features = featuresFile(now);
  if (features.empty()) out.note = "no sched_features: debugfs is not mounted";
  for (const auto& [name, on] : strategy->schedFeatures)
    if (!features.empty())
      out.entry(features, "sched_features", name, FileValue::of(on ? 1 : 0), kWhy);
  return out;
}

}  // namespace mangrove::agent
