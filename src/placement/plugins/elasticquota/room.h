#pragma once
// Room for a pod that its quota or the nodes refused: victims inside the quota (of lower priority),
// or, with the argument reclaim, among those that borrowed what the pod has a right to. Nobody goes
// unless the pod is admitted and fits afterwards; while victims are still going nobody else is
// asked to.
//
//   RoomAnswer answer = room.make(stranded);
//
// Owner thread only.

#include <optional>
#include <vector>

#include "placement/framework/deeds.h"
#include "placement/framework/plugin.h"
#include "placement/plugins/elasticquota/quota_desk.h"
#include "placement/quota/reclaim.h"

namespace mangrove::placement {

class QuotaRoom {
 public:
  QuotaRoom(Cluster& cluster, Clock& clock, Deeds* deeds, QuotaDesk& desk)
      : cluster_(cluster), clock_(clock), deeds_(deeds), desk_(desk) {}

  RoomAnswer make(const Stranded& stranded);

 private:
  // Who may go, each with its amounts and what the order of victims asks for.
  struct Field {
    std::vector<PodPtr> pods;
    std::vector<Debtor> debtors;
    std::vector<size_t> allowed;
  };
  struct Offer {
    Row row = kNoRow;
    std::vector<size_t> victims;  // of the field
    int32_t highest = 0;
    double cost = 0;
    bool isBetterThan(const Offer& other) const;
  };
  Field fieldOf(const QuotaLedger& ledger) const;
  void spareGuarded(Field& field) const;
  void allowInside(Field& field, const PodInfo& pod, const QuotaDesk::Asked& asked) const;
  void allowBorrowers(Field& field, const QuotaDesk::Asked& asked) const;
  std::optional<Offer> search(const Stranded& stranded, const QuotaDesk::Asked& asked,
                              const Field& field);
  std::optional<Offer> offerOn(Row row, Cycle& cycle, const QuotaDesk::Asked& asked,
                               const Field& field);
  std::optional<std::vector<size_t>> onNode(Row row, Cycle& cycle, const QuotaDesk::Asked& asked,
                                            const Field& field);
  bool mayHelp(const PodInfo& pod, const QuotaDesk::Asked& asked) const;
  bool awaitsLeaving(const Stranded& stranded, const QuotaDesk::Asked& asked);
  Offer offer(Row row, std::vector<size_t> victims, const Field& field) const;

  Cluster& cluster_;
  Clock& clock_;
  Deeds* deeds_;
  QuotaDesk& desk_;
};

}  // namespace mangrove::placement
