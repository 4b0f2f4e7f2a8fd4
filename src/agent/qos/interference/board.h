#pragma once
// What is written where by whom when services suffer: strategies tell what they found and what they
// want of each other, and whoever has a client or a socket reads and fills it. Filled at a tick, read
// at the next one. Owner thread.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/executor/audit.h"
#include "agent/interference/latency.h"
#include "api/interference/fence_book.h"
#include "api/interference/proven_pairs.h"
#include "api/interference/report.h"
#include "base/number/units.h"

namespace mangrove::agent {

// How long a service's answers take, as it says itself or as a probe finds.
struct LatencySeen {
  std::optional<double> tailMs;                         // of the last ten seconds
  std::optional<interference::RecentMean> recent = {};  // what came since the tick before
};

// What the ladder wants of those who own the knobs.
struct OfflineHold {
  std::optional<int> ways;          // of the cache, for offline work
  std::optional<double> bandwidth;  // percent of memory bandwidth
  std::string waysWhy, bandwidthWhy;
  std::string networkWhy;  // offline work gets its own share of the network only; "": not wanted
};

// What those can do, by who was asked at the last ticks.
struct HoldMeans {
  MonoTime cacheAt = MonoTime::min(), networkAt = MonoTime::min();
  int ways = 0, offlineWays = 0;
  bool bandwidth = false;
  static constexpr Duration kFresh = std::chrono::seconds(5);
  static bool isFresh(MonoTime at, MonoTime now) {
    return at != MonoTime::min() && now - at <= kFresh;
  }
};

struct InterferenceBoard {
  std::vector<api::InterferenceReport> reports;
  std::vector<AuditRecord> records;  // what was only said: previews, dry runs
  bool blocked = false;              // no new work: a watermark of Crane's was crossed
  std::string blockedWhy;

  OfflineHold hold;
  HoldMeans means;
  bool looks = false;  // somebody wants to know how services fare
  // By pod.
  std::map<std::string, LatencySeen, std::less<>> latency;
  std::set<std::string, std::less<>> watched;     // services with an episode
  std::set<std::string, std::less<>> containers;  // of those
  // What is ordinary, by all nodes; and what this one saw, for them.
  api::FenceBook pooled;
  std::set<std::string, std::less<>> workloads;  // keys of services here
  std::string ownBook;                           // "": nothing new to tell
  // Who hurt whom, of episodes that ended since the tick before.
  std::vector<api::ProvenPair> proved;
  // Cycles per instruction of services at their last window of the counters, by "namespace/name".
  struct Cpi {
    double now = 0;
    std::optional<double> fence = {};
  };
  std::map<std::string, Cpi> cpi;
  // Ended episodes by resource and outcome, since the start.
  std::map<std::pair<std::string, std::string>, uint64_t> ended;
};

}  // namespace mangrove::agent
