#pragma once
// What the episodes see of one tick, free of cgroups and API objects: services that may suffer, and
// offline pods beside them that may be the cause. Values; any thread.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/interference/ladder.h"
#include "agent/interference/proof.h"
#include "agent/interference/stalls.h"
#include "agent/interference/suspects.h"

namespace mangrove::agent::interference {

// Stalled share of the time since the tick before, percent.
struct Instant {
  std::optional<double> cpu = {}, memory = {}, io = {};
  std::optional<double> of(Resource resource) const;
};

// What its counters say, where there are any.
struct Counted {
  double cpi = 0;
  std::optional<double> fence = {};  // of its workload at this load; nullopt: not learned yet
  std::vector<Resource> contention = {};
  bool outliers = false;  // CPI squared: three in five minutes
};

struct Service {
  std::string uid, ns, name, application;
  api::Qos qos = api::Qos::kLs;
  api::PriorityBand band = api::PriorityBand::kProd;
  double cores = 0;
  std::optional<Stalls> stalls = {};    // measured at this tick, every ten seconds
  Instant instant = {};                 // at every tick while it has an episode
  std::optional<Counted> counted = {};  // a window of the counters ended at this tick
};

struct Neighbour {
  std::string uid, name;  // "namespace/name"
  int rank = 0;
  int32_t priority = 0;
  Duration running{};
  double cores = 0, memory = 0;
  bool bestEffort = true;
  bool exempt = false;  // wants to be left alone
  bool evictable = true;
  bool foreign = false;  // somebody else's limit on it moved since the tick before
};

struct Scene {
  MonoTime at{};
  WallTime wall{};
  std::vector<Service> services;
  std::vector<Neighbour> neighbours;
};

struct Switches {
  bool gaussian = false, cpi2 = false, pressure = false;
  bool ladder = false;  // act at all
  bool causal = false;  // experiments, and with them steps against one pod
  StallMarks marks = {};
  std::set<Rung> off = {};
  SeriesRules rules = {};
  bool detects() const { return gaussian || cpi2 || pressure; }
};

// What is wanted until the next tick; what is not named is given back.
struct Orders {
  struct Cap {
    std::string uid;
    double cores = 0;
    std::string why;
  };
  struct Leave {
    std::string uid, why;
  };
  std::vector<Cap> caps;
  std::vector<Leave> leave;
  std::string idleClass;   // why offline pods are to be in the idle class; "": not our wish
  double memoryShare = 1;  // of what offline pods use now
  std::string memoryWhy;
};

}  // namespace mangrove::agent::interference
