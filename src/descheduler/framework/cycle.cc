#include "descheduler/framework/cycle.h"

#include "descheduler/framework/registry.h"

namespace mangrove::descheduler {
namespace {

Result<std::vector<PluginPtr>> makeAll(const std::vector<std::string>& names,
                                       const ProfileConfig& config, Duration interval) {
  std::vector<PluginPtr> out;
  for (const std::string& name : names) {
    const auto args = config.args.find(name);
    auto plugin =
        makePlugin(name, args == config.args.end() ? json::Value() : args->second, interval);
    if (!plugin) return plugin.error().in("profile {}: {}", config.name, name);
    out.push_back(std::move(*plugin));
  }
  return out;
}

Nodes participants(const Look& look, const CycleSetup& setup) {
  Nodes out = matching(setup.nodeSelector, look.nodes());
  std::erase_if(out, [](const api::Node* node) { return !takesPart(*node); });
  return out;
}

}  // namespace

Result<Profile> makeProfile(const ProfileConfig& config, Duration interval) {
  Profile out;
  out.name = config.name;
  out.nodeSelector = config.nodeSelector;
  auto deschedule = makeAll(config.deschedule, config, interval);
  if (!deschedule) return pass(deschedule.error());
  auto balance = makeAll(config.balance, config, interval);
  if (!balance) return pass(balance.error());
  out.deschedule = std::move(*deschedule);
  out.balance = std::move(*balance);
  return out;
}

std::vector<Error> runCycle(const Look& look, MonoTime now, std::vector<Profile>& profiles,
                            const CycleSetup& setup, CycleCount& count, Hands& hands) {
  const Nodes nodes = participants(look, setup);
  if (nodes.size() < 2) {
    return {Error(Code::kUnavailable,
                  fmt::format("{} nodes take part, and moving needs two", nodes.size()))};
  }
  count.reset();
  std::vector<Error> errors;
  NodeFit fit(look);
  for (const auto stage : {&Profile::deschedule, &Profile::balance}) {
    for (Profile& profile : profiles) {
      const Nodes own = matching(profile.nodeSelector, nodes);
      Round round{
          look,          own, now, fit, *profile.evictor, hands, setup.dryRun, profile.foresight,
          setup.underWay};
      for (PluginPtr& plugin : profile.*stage) {
        auto ok = plugin->run(round);
        if (ok) continue;
        errors.push_back(ok.error().in("{} of profile {}", plugin->name(), profile.name).value());
      }
    }
  }
  return errors;
}

}  // namespace mangrove::descheduler
