#pragma once
// What batch work had, used, lost and waited for, by tenant and job: a ledger that is fed with looks
// at a cluster and outlives the one who looks.
//
//   BatchLedger ledger;
//   ledger.look(pods, usage, evicted, now);        // every few seconds
//   ledger.accounts();  ledger.state();            // and restore() after a restart
//
// Core hours sold are what a pod asked for while it ran; used is what its node measured; lost is the
// work since its last checkpoint when it was evicted (victims/cost.h), at most what was measured.
// A pod that vanishes between two looks counts as evicted only where an Event says so. One owner.

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "api/pod/pod.h"
#include "base/number/units.h"
#include "base/result.h"
#include "json/fwd.h"

namespace mangrove::report {

struct BatchAccount {
  std::string tenant = {};  // namespace
  std::string job = {};     // application, job, or the pod itself (stakes/stake.h)
  std::string kind = {};
  int64_t pods = 0, finished = 0, failed = 0, evicted = 0;
  double soldSeconds = 0, usedSeconds = 0, lostSeconds = 0;  // of a core
  double finishedSeconds = 0;                                // sold to those that finished
  double waitedSeconds = 0;                                  // from creation to the start
  bool operator==(const BatchAccount&) const = default;
};

class BatchLedger {
 public:
  using Usage = std::map<std::string, double, std::less<>>;  // cores, by "namespace/name"
  using Uids = std::set<std::string, std::less<>>;

  // All best-effort pods of the cluster, what they use, and who was evicted according to Events.
  void look(std::span<const api::Pod* const> pods, const Usage& usage, const Uids& evicted,
            WallTime now);
  // By tenant, then by core hours sold.
  std::vector<BatchAccount> accounts() const;
  WallTime since() const { return since_; }
  WallTime until() const { return until_; }

  json::Value state() const;
  Result<> restore(const json::Value& state);

 private:
  struct Life {
    std::string account;  // key
    double cores = 0;
    WallTime created = kZeroTime, started = kZeroTime, seen = kZeroTime;
    double soldSeconds = 0, usedSeconds = 0, lost = 0;
    bool ended = false;
  };
  BatchAccount& accountOf(const std::string& key) { return accounts_[key]; }
  void open(const api::Pod& pod);
  void advance(Life& life, const api::Pod& pod, double cores, WallTime now);
  void end(Life& life, const api::Pod& pod, bool evicted);
  void vanish(Life& life, bool evicted);

  std::map<std::string, BatchAccount> accounts_;
  std::map<std::string, Life, std::less<>> lives_;  // by uid: pods that are still there
  WallTime since_ = kZeroTime, until_ = kZeroTime;
};

// What a finished pod cost against dedicated machines, where a core hour of those costs
// `dedicatedPrice` and one of batch resources `batchPrice`.
struct BatchPrices {
  double batch = 0.3, dedicated = 1;
};
struct UnitCost {
  double batch = 0;      // all that was sold, also what was lost, over what finished
  double dedicated = 0;  // what those that finished had, at the other price
};
std::optional<UnitCost> unitCost(const BatchAccount& account, const BatchPrices& prices);

std::string toTable(const std::vector<BatchAccount>& accounts, const BatchPrices& prices);
std::string toJson(const BatchLedger& ledger, const BatchPrices& prices);

}  // namespace mangrove::report
