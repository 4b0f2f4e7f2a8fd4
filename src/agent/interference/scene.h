#pragma once
// What the episodes see of one tick, free of cgroups and API objects: services that may suffer, and
// offline pods beside them that may be the cause. Values; any thread.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/interference/ladder.h"
#include "agent/interference/proof.h"
#include "agent/interference/stalls.h"
#include "agent/interference/suspects.h"

namespace mangrove::agent::interference {

// Since the tick before; what an experiment goes by.
struct Instant {
  std::optional<double> cpu = {}, memory = {}, io = {};        // stalled share of the time, percent
  std::optional<double> cpi = {};                              // cycles per instruction
  std::optional<double> latency = {};                          // ms, mean of its answers
  Duration latencyOf = std::chrono::seconds(1), latencyAge{};  // so long, until so long ago
  std::optional<double> lost = {};  // of its segments sent again, percent
  // Of the signal that was found to be wrong; a shortage that only counters see is not looked for
  // among stalls.
  std::optional<double> of(std::string_view signal, Resource resource) const;
};

// What its counters say, where there are any.
struct Counted {
  double cpi = 0;
  std::optional<double> fence = {};  // of its workload at this load; nullopt: not learned yet
  std::vector<Resource> contention = {};
  bool outliers = false;                  // CPI squared: three in five minutes
  bool regression = false;                // the fence is what it would show without offline work
  std::optional<double> attributed = {};  // share of the excess that offline work accounts for
};

struct Service {
  std::string uid, ns, name, application;
  api::Qos qos = api::Qos::kLs;
  api::PriorityBand band = api::PriorityBand::kProd;
  double cores = 0;
  bool mayMove = false;      // has other replicas, as far as its owner tells
  bool hasSiblings = false;  // CPUs of its own whose siblings offline work may use
  double promisedMs = 0;     // latency; 0: it reports none
  // Its answers' mean, on the scale of `instant`: lately, and while it was well; 0: not known.
  double latencyLately = 0, latencyWell = 0;
  std::optional<Stalls> stalls = {};    // measured at this tick, every ten seconds
  Instant instant = {};                 // at every tick while it has an episode
  std::optional<Counted> counted = {};  // a window of the counters ended at this tick
};

struct Neighbour {
  std::string uid, name;  // "namespace/name"
  std::string application = {};
  int rank = 0;
  int32_t priority = 0;
  Duration running{};
  double cores = 0, memory = 0;
  // Where they are measured: cache in use, memory traffic and disk traffic a second, all in bytes.
  std::optional<double> cache = {}, bandwidth = {}, io = {};
  Nearness nearness = Nearness::kFar;
  bool bestEffort = true;
  bool exempt = false;  // wants to be left alone
  bool evictable = true;
  bool foreign = false;  // somebody else's limit on it moved since the tick before
};

// How much of a resource it uses; where that is not measured, its CPU time stands in.
double useOf(const Neighbour& pod, Resource resource);

// What of the ladder this machine can do.
struct Means {
  int ways = 0, offlineWays = 0;            // of the cache; 0: no control of it
  bool bandwidth = false;                   // control of memory bandwidth
  std::map<Rung, std::string> absent = {};  // steps that cannot be taken here, and why
};

struct Scene {
  Means means;
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
  std::optional<double> ways, bandwidth;  // of offline work: cache ways, percent of bandwidth
  std::string waysWhy, bandwidthWhy;
  std::string siblings;  // why offline work keeps off the siblings of these services; "": no
  std::set<std::string> beside;  // their uids
  std::string ioWeight;          // why disks serve offline work last
  std::string netClass;          // why offline work gets its own share of the network only
};

}  // namespace mangrove::agent::interference
