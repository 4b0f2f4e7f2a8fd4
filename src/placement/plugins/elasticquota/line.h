#pragma once
// Pods that a quota refused, in line: by quota, by what they ask for, by priority and age. They cost
// nothing until the quota that refused them (their own, or one above it) may use more or somebody
// there gives something back; then one of each kind is judged, and as many are called as there is
// room for.
//
//   QuotaLine line(desk);
//   line.put(uid, refusal.quota, alone);             // refused just now
//   for (const api::Uid& uid : line.callable()) …    // no longer in line; try them again
//
// A pod that was refused while others of its gang had their places on trial stands for itself: what
// refused it says nothing about others that ask for the same. Owner thread only.

#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "placement/plugins/elasticquota/quota_desk.h"

namespace mangrove::placement {

class QuotaLine {
 public:
  explicit QuotaLine(QuotaDesk& desk) : desk_(desk) {}

  // kRootId: something else than the numbers of a quota refused it.
  void put(const api::Uid& uid, QuotaId refusedBy, bool alone);
  // Another version of a pod that may be in line: it keeps its turn, unless it asks for something
  // else or elsewhere; then it is judged again.
  void seen(const api::Uid& uid);
  void erase(const api::Uid& uid);
  bool holds(const api::Uid& uid) const { return where_.contains(uid); }
  size_t size() const { return where_.size(); }
  // Quotas came, went or changed: everybody's place is found anew.
  void treesChanged() { stale_ = true; }

  // Those that would be admitted now, one beside the other.
  std::vector<api::Uid> callable();
  // The same among those that wait in one quota.
  std::vector<api::Uid> callableIn(const QuotaPlace& place);

 private:
  using Turn = std::tuple<int64_t, WallTime, api::Uid>;  // priority downwards, age, uid
  struct Group {
    QuotaPlace place;
    std::shared_ptr<const Amounts> request;
    PodKind kind = PodKind::kPreemptible;
    bool alone = false;
    QuotaId refusedBy = kRootId;
    uint64_t judgedAt = 0;  // the ledger's moment; it has not eased since: still refused
    std::set<Turn> pods;
  };
  using Groups = std::vector<std::unique_ptr<Group>>;
  using Place = std::pair<const QuotaLedger*, QuotaId>;
  struct Standing {
    Group* group = nullptr;
    Turn turn;
    bool alone = false;
  };

  Group& groupFor(const QuotaPlace& place, const QuotaPod& pod, bool alone);
  void judged(Group& group, QuotaId refusedBy);
  void judgeAgain(Group& group);
  void judgeAgain(const api::Uid& uid);
  void drop(const Standing& standing);
  void settle();
  std::vector<api::Uid> call(std::vector<Group*> candidates);

  QuotaDesk& desk_;
  std::map<Place, Groups> groups_;
  std::unordered_map<api::Uid, Standing> where_;
  std::map<Place, std::unordered_set<Group*>> byRefuser_;
  struct Look {
    uint64_t relief = 0, moment = 0;
  };
  std::map<const QuotaLedger*, Look> looks_;  // the last ones
  std::unordered_set<Group*> again_;  // beside some that were called: they may have room, too
  bool stale_ = false;
};

}  // namespace mangrove::placement
