#pragma once
// One cycle: the nodes that take part, then the deschedule plugins of all profiles, then their
// balance plugins, in the order of the configuration. A profile that fails does not starve the
// others.

#include <string>
#include <vector>

#include "descheduler/config/config.h"
#include "descheduler/evictor/proxy.h"
#include "descheduler/plugin.h"

namespace mangrove::descheduler {

struct Profile {
  std::string name;
  MaybeSelector nodeSelector;
  std::vector<PluginPtr> deschedule;
  std::vector<PluginPtr> balance;
  Evictor* evictor = nullptr;
  Foresight* foresight = nullptr;  // null: its moves are not proven
};

struct CycleSetup {
  MaybeSelector nodeSelector;
  bool dryRun = false;
  std::span<const UnderWay> underWay = {};
};

// Makes the plugins; the evictor is put in by who has one.
Result<Profile> makeProfile(const ProfileConfig& config, Duration interval);

// What went wrong, one sentence per plugin; a cluster with fewer than two nodes that take part is
// an error, and nothing runs.
std::vector<Error> runCycle(const Look& look, MonoTime now, std::vector<Profile>& profiles,
                            const CycleSetup& setup, CycleCount& count, Hands& hands);

}  // namespace mangrove::descheduler
