#pragma once
// What happens to quotas with time: their figures are written where they changed, who borrows is
// noted with the moment it began, overuse is revoked when it lasts, and (argument fairOverTime) what
// was borrowed is held against the borrower for a while. Beginnings and the past stand on the
// quotas' objects, so that they outlive the process.
//
//   QuotaKeeper keeper(handle, desk);
//   keeper.tick(now);                              // about once a second
//   for (ObjectPatch& patch : keeper.takePatches(now)) …   // the same, while leading
//
// With several profiles one of them keeps; the others only count. Owner thread only.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "placement/framework/plugin.h"
#include "placement/plugins/elasticquota/quota_desk.h"
#include "placement/plugins/elasticquota/report.h"
#include "placement/plugins/elasticquota/revoker.h"
#include "placement/plugins/elasticquota/series.h"
#include "placement/plugins/elasticquota/touched.h"

namespace mangrove::placement {

// Since when a quota uses more than its minimum, by quota and resource.
using Borrowings = std::map<std::string, Since>;

class QuotaKeeper {
 public:
  QuotaKeeper(const PluginHandle& handle, QuotaDesk& desk);
  ~QuotaKeeper();
  QuotaKeeper(const QuotaKeeper&) = delete;
  QuotaKeeper& operator=(const QuotaKeeper&) = delete;

  void tick(WallTime now);
  void podSeen(const api::Pod& pod) { revoker_.seen(pod); }
  void podGone(const api::Uid& uid) { revoker_.gone(uid); }
  // A quota's object is another one: what stands on it may not be what it should.
  void objectChanged(std::string_view key) { due_.emplace(key); }
  // Figures that are to be written; revokes what is overdue on the way.
  std::vector<ObjectPatch> takePatches(WallTime now);
  void written(const ObjectPatch& patch);
  void notWritten(const ObjectPatch& patch);
  const Borrowings& borrowings() const { return borrowings_; }

 private:
  struct Sent {
    std::string body;
    WallTime at{};
    MonoTime sentAt{};
  };
  void noteBorrowers(WallTime now);
  void noteBorrower(const QuotaPlace& place, WallTime now);
  void remember(const std::string& name, WallTime now);
  WallTime beganAt(const std::string& quota, Interned resource, WallTime now) const;
  void fade(WallTime now);
  Amounts faded(const QuotaPlace& place, double keep);
  void takeFigures(WallTime now, std::vector<ObjectPatch>& out);
  void takeFigure(const std::string& key, WallTime now, std::vector<ObjectPatch>& out);
  void makeOwnQuotas(WallTime now, std::vector<ObjectPatch>& out);
  json::Object notesFor(const QuotaPlace& place, const api::ElasticQuota& object) const;
  // Calls visit(place, treeId) for every quota of every tree.
  template <class Visit>
  void eachQuota(Visit visit) const;

  Cluster& cluster_;
  Clock& clock_;
  QuotaDesk& desk_;
  QuotaRevoker revoker_;
  std::optional<QuotaSeries> series_;
  bool keeps_ = false;
  TouchedQuotas noted_, reported_;  // by tick() and takePatches()
  std::set<std::string> due_;       // objects to be looked at, by ns/name
  Borrowings borrowings_;
  std::map<std::string, Amounts> past_;
  // What stood on the objects when they were first seen, and when that was: pods come later than
  // quotas, and who borrows is only known when they are there.
  std::map<std::string, std::pair<Since, WallTime>> remembered_;
  WallTime fadedAt_{};
  WallTime madeAt_{};
  std::map<std::string, Sent> sent_;
};

}  // namespace mangrove::placement
