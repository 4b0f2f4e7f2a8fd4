#pragma once
// Arguments of the MigrationController: whom it may move, how many at once, and how.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "descheduler/migration/limits.h"
#include "descheduler/plugins/selection.h"

namespace mangrove::descheduler {

// At most `most` evictions in `duration`, `burst` at once. Zero duration: no limit.
struct ObjectLimit {
  Duration duration{};
  std::optional<api::IntOrString> most;
  int64_t burst = 1;
};

struct MigrationArgs {
  bool dryRun = false;
  int64_t maxConcurrentReconciles = 1;
  bool evictFailedBarePods = false;
  bool evictAllBarePods = false;
  bool evictLocalStoragePods = false;
  bool evictSystemCriticalPods = false;
  bool evictDaemonSetPods = false;  // of the DefaultEvictor only
  bool ignorePvcPods = false;
  std::optional<int64_t> priorityThreshold;  // priorityThreshold.value
  std::string priorityThresholdName;         // a PriorityClass that gives the value
  MaybeSelector labelSelector;
  Namespaces namespaces;
  bool nodeFit = false;
  MaybeSelector nodeSelector;
  std::set<std::string, std::less<>> skipGates;
  MigrationLimits limits;
  ObjectLimit perWorkload{std::chrono::minutes(5), std::nullopt, 1};
  ObjectLimit perNamespace;
  std::string mode = "ReservationFirst";
  Duration ttl = std::chrono::minutes(5);
  std::vector<std::string> schedulerNames = {"koord-scheduler"};
  double evictQps = 10;
  int64_t evictBurst = 1;
  std::string evictionPolicy = "Eviction";
  std::string deleteOptions;  // JSON; "": none
  Duration arbitrationInterval = std::chrono::milliseconds(500);
  // Ours: nobody is moved unless the scheduler's own rules, asked beforehand, have a place for it.
  bool provenMoves = false;
  // With it: after a move the rest of the workload on that node stays for so long.
  Duration coolDown = std::chrono::minutes(5);
  // With it: pods of the batch and free bands that land nowhere may be evicted all the same, so
  // many of a workload at a time.
  bool evictUnplaceable = false;
  int64_t maxUnplaceablePerWorkload = 1;

  bool checks(std::string_view gate) const { return !skipGates.contains(gate); }
  bool reservesFirst() const { return mode == "ReservationFirst"; }
};

Result<MigrationArgs> readMigrationArgs(const json::Value& args);
// The members that say whom to spare, which the DefaultEvictor has too.
void readWhom(Args& args, MigrationArgs& out);

}  // namespace mangrove::descheduler
