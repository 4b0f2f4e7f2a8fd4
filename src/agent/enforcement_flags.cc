#include "agent/enforcement_flags.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/text/strings.h"

namespace mangrove::agent {
namespace {

std::chrono::seconds secondsOf(int64_t count) {
  return std::chrono::seconds(std::max<int64_t>(count, 0));
}

EnforcerOptions enforcerOptions(const AgentFlags& flags) {
  EnforcerOptions out;
  out.dryRun = flags.dryRun;
  for (std::string_view name : splitTrimmed(flags.dryStrategies, ','))
    if (!name.empty()) out.dryStrategies.emplace(name);
  out.stateFile = flags.enforceState;
  // In a container either the folder is mounted where the host has it, or the host's root is.
  std::error_code error;
  const std::string below = flags.root + "/" + flags.kubeletDir;
  if (isThisMachine(flags.root))
    out.diskPath = std::filesystem::exists(below, error) ? below : flags.kubeletDir;
  return out;
}

StrategyOptions strategyOptions(const AgentFlags& flags) {
  StrategyOptions out;
  out.ownsGroup = flags.ownsBestEffortGroup;
  out.memoryEvict = {secondsOf(flags.memoryEvictCool), false, secondsOf(flags.memoryEvictInterval)};
  out.cpuEvict = {secondsOf(flags.cpuEvictCool), true, secondsOf(flags.cpuEvictInterval)};
  return out;
}

NriOptions nriOptions(const AgentFlags& flags) {
  NriOptions out;
  out.socket = flags.nriSocketPath();
  out.name = flags.nriName;
  out.index = flags.nriIndex;
  return out;
}

}  // namespace

EnforcementOptions enforcementOptions(const AgentFlags& flags) {
  EnforcementOptions out;
  out.enforcer = enforcerOptions(flags);
  out.strategies = strategyOptions(flags);
  out.reflexes = {.pressureInterval = flags.pressureInterval,
                  .suppressOnPressure = flags.suppressOnPressure,
                  .heartbeat = flags.heartbeat,
                  .guardian = flags.guardian,
                  .root = flags.root};
  out.hooks = flags.runtimeHooks;
  if (auto named = gatesOfStrategies(flags.extensions)) out.extensions = *std::move(named);
  out.keepsQuota = flags.keepsQuota;
  out.evictionsPerMinute = static_cast<size_t>(std::max<int64_t>(flags.evictionsPerMinute, 0));
  out.killWhenApiAway = flags.killWhenApiAway;
  out.cooldownTaint = flags.cooldownTaint;
  out.hamiLibrary = flags.hamiLibrary;
  // Captured machines have neither processes nor links nor a runtime of their own; the host of a
  // container, seen through its mounts, does.
  out.isLive = isThisMachine(flags.root);
  if (flags.nri && out.isLive) out.nri = nriOptions(flags);
  return out;
}

Result<> restoreAndQuit(const AgentFlags& flags, frame::RoleContext& context) {
  MachineOptions options = liveMachine(flags.root);
  options.live = false;
  options.mounts = flags.mounts(kernel::SysRoot(flags.root));
  if (!flags.cgroupDriver.empty())
    options.driver = flags.cgroupDriver == "systemd" ? kernel::CgroupDriver::kSystemd
                                                     : kernel::CgroupDriver::kCgroupfs;
  auto machine = Machine::open(options);
  if (!machine) return pass(machine.error());
  auto lines = restoreMachine(**machine, context.clock, flags.enforceState);
  if (!lines) return pass(lines.error());
  for (const std::string& line : *lines) fmt::print("{}\n", line);
  context.quit(0);
  return {};
}

}  // namespace mangrove::agent
