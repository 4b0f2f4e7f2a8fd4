#pragma once
// Overuse: who has to go when a quota has used more than its runtime for longer than delayEvictTime
// (monitorAllQuotas). With the argument reclaim only if that brings the quota back within its
// runtime, by the one order of victims, gangs and budgets honoured; otherwise as the reference does.
//
//   QuotaRevoker revoker(handle, desk);
//   revoker.look();                          // about once a second, while leading
//
// What is leaving already counts as gone, so that nobody is asked on its account again. A second in
// which nothing changes and nobody is over costs nothing: only quotas whose numbers changed are
// compared, and only pods that leave are summed up. Owner thread only.

#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "placement/framework/deeds.h"
#include "placement/framework/plugin.h"
#include "placement/plugins/elasticquota/quota_desk.h"
#include "placement/plugins/elasticquota/touched.h"
#include "placement/quota/overuse.h"

namespace mangrove::placement {

class QuotaRevoker {
 public:
  QuotaRevoker(const PluginHandle& handle, const QuotaDesk& desk);

  void seen(const api::Pod& pod);
  void gone(const api::Uid& uid) { leaving_.erase(uid); }
  void look();

 private:
  bool isOn() const { return desk_.args().monitorAllQuotas && desk_.args().runtime; }
  void noteOver(const QuotaPlace& place);
  void lookAt(const QuotaPlace& place, OveruseClock& clock, MonoTime now);
  Amounts leaving(const QuotaPlace& place) const;
  std::vector<PodPtr> byReference(const QuotaPlace& place, const Amounts& used) const;
  std::vector<PodPtr> enoughOrNobody(const QuotaPlace& place, const Amounts& used) const;
  void evict(const QuotaPlace& place, const std::vector<PodPtr>& victims, const Amounts& used);
  bool isLeaving(const PodInfo& pod) const;

  Cluster& cluster_;
  Clock& clock_;
  Deeds* deeds_;
  const QuotaDesk& desk_;
  MonoTime lookedAt_{};
  TouchedQuotas touched_;
  std::map<std::string, OveruseClock> over_;  // quotas that use more than they may, by name
  std::unordered_set<api::Uid> leaving_;      // being deleted, and not gone
  std::unordered_set<api::Uid> asked_;        // and not seen leaving yet
};

}  // namespace mangrove::placement
