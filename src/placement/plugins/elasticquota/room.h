#pragma once
// Room for a pod that its quota or the nodes refused: victims inside the quota (of lower priority),
// or, with the argument reclaim, among those that borrowed what the pod has a right to. Nobody goes
// unless the pod is admitted and fits afterwards; while victims are still going nobody else is
// asked to.
//
//   RoomAnswer answer = room.make(stranded);
//
// Owner thread only.

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "placement/framework/deeds.h"
#include "placement/framework/plugin.h"
#include "placement/plugins/elasticquota/debtors.h"
#include "placement/plugins/elasticquota/quota_desk.h"
#include "placement/plugins/elasticquota/unhelped.h"

namespace mangrove::placement {

class QuotaRoom {
 public:
  QuotaRoom(Cluster& cluster, Clock& clock, Deeds* deeds, QuotaDesk& desk)
      : cluster_(cluster), clock_(clock), deeds_(deeds), desk_(desk) {}

  RoomAnswer make(const Stranded& stranded);
  // The pod has its place, or is gone: it claims nothing any more.
  void settled(const api::Uid& claimant) {
    claims_.erase(claimant);
    unhelped_.erase(claimant);
  }
  // Pods that nobody's going would have helped, and may now. Nobody without the argument reclaim.
  std::vector<api::Uid> worthATry() { return unhelped_.worthATry(desk_, clock_.mono()); }

 private:
  // Room that is being made: what leaves is the claimant's, and nobody else's to count on.
  struct Claimed {
    QuotaPlace place;
    std::shared_ptr<const Amounts> request;
    PodKind kind = PodKind::kPreemptible;
    std::vector<api::Uid> victims;
    MonoTime since{};
  };
  class Pending;
  using Field = DebtorField;
  struct Offer {
    Row row = kNoRow;
    std::vector<size_t> victims;  // of the field
    int32_t highest = 0;
    double cost = 0;
    bool isBetterThan(const Offer& other) const;
  };
  void allowInside(Field& field, const PodInfo& pod, const QuotaDesk::Asked& asked) const;
  void allowBorrowers(Field& field, const QuotaDesk::Asked& asked) const;
  std::optional<Offer> choose(const Stranded& stranded, const QuotaDesk::Asked& asked,
                              Field& field);
  std::optional<Offer> search(const Stranded& stranded, const QuotaDesk::Asked& asked,
                              const Field& field);
  std::optional<Offer> offerOn(Row row, Cycle& cycle, const QuotaDesk::Asked& asked,
                               const Field& field);
  std::optional<std::vector<size_t>> onNode(Row row, Cycle& cycle, const QuotaDesk::Asked& asked,
                                            const Field& field);
  bool mayHelp(const PodInfo& pod, const QuotaDesk::Asked& asked) const;
  bool awaitsLeaving(const Stranded& stranded, const QuotaDesk::Asked& asked);
  void dropOldClaims(const api::Uid& asking);
  Offer offer(Row row, std::vector<size_t> victims, const Field& field) const;

  Cluster& cluster_;
  Clock& clock_;
  Deeds* deeds_;
  QuotaDesk& desk_;
  std::map<api::Uid, Claimed> claims_;  // by claimant
  Unhelped unhelped_;
};

}  // namespace mangrove::placement
