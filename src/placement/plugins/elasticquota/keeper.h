#pragma once
// What happens to quotas with time: their figures are written where they changed, who borrows is
// noted with the moment it began, overuse is revoked when it lasts, and (argument fairOverTime) what
// was borrowed is held against the borrower for a while.
//
//   QuotaKeeper keeper(handle, desk);
//   keeper.tick(now);                              // about once a second
//   for (ObjectPatch& patch : keeper.takePatches(now)) …   // the same, while leading
//
// With several profiles one of them keeps; the others only count. Owner thread only.

#include <map>
#include <string>

#include "placement/framework/deeds.h"
#include "placement/framework/plugin.h"
#include "placement/plugins/elasticquota/quota_desk.h"
#include "placement/quota/overuse.h"

namespace mangrove::placement {

// Since when a quota uses more than its minimum, by quota and resource.
using Borrowings = std::map<std::string, std::map<Interned, WallTime>>;

class QuotaKeeper {
 public:
  QuotaKeeper(const PluginHandle& handle, QuotaDesk& desk);
  ~QuotaKeeper();
  QuotaKeeper(const QuotaKeeper&) = delete;
  QuotaKeeper& operator=(const QuotaKeeper&) = delete;

  void tick(WallTime now);
  // Figures that are to be written; revokes what is overdue on the way.
  std::vector<ObjectPatch> takePatches(WallTime now);
  void notWritten(const ObjectPatch& patch);
  const Borrowings& borrowings() const { return borrowings_; }

 private:
  struct Sent {
    std::string body;
    WallTime at{};
  };
  void noteBorrowers(WallTime now);
  void fade(WallTime now);
  void revoke();
  void revokeFrom(const QuotaPlace& place);
  // Calls visit(place) for every quota of every tree.
  template <class Visit>
  void eachQuota(Visit visit) const;

  Cluster& cluster_;
  Clock& clock_;
  Deeds* deeds_;
  QuotaDesk& desk_;
  bool keeps_ = false;
  uint64_t seen_ = 0;      // changes of the trees, by tick()
  uint64_t reported_ = 0;  // the same, by takePatches()
  uint64_t changes() const;
  Borrowings borrowings_;
  std::map<std::string, Amounts> past_;
  WallTime fadedAt_{};
  MonoTime revokedAt_{};
  std::map<std::string, OveruseClock> clocks_;
  std::map<std::string, Sent> sent_;
};

}  // namespace mangrove::placement
