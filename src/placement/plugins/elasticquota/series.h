#pragma once
// Quotas as metrics, under the reference's names: scheduler_elastic_quota_spec and
// scheduler_elastic_quota_status by name, resource, tree, is_parent, parent and field (cpu in
// thousandths), and how long writing a quota's figures takes.
//
//   QuotaSeries series(*registry);
//   series.show(desk, now);                    // every ten seconds; quotas that are gone go too
//
// Owner thread.

#include <map>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "base/number/units.h"
#include "placement/plugins/elasticquota/quota_desk.h"
#include "placement/plugins/elasticquota/touched.h"

namespace mangrove::placement {

class QuotaSeries {
 public:
  explicit QuotaSeries(Registry& registry);
  void show(const QuotaDesk& desk, MonoTime now);
  void wrote(Duration took);

 private:
  using Shown = std::map<LabelValues, int64_t>;
  struct OfQuota {
    Shown spec, status;
  };
  static void add(Shown& out, const LabelValues& labels, std::string_view field,
                  const Amounts& amounts);
  static void publish(GaugeFamily& family, Shown& shown, Shown next);
  void showOne(const QuotaDesk& desk, const QuotaPlace& place, const std::string& treeId);
  void dropGone(const QuotaDesk& desk);

  GaugeFamily& spec_;
  GaugeFamily& status_;
  Histogram writing_;
  std::map<std::string, OfQuota> shown_;  // by name
  TouchedQuotas touched_;
  MonoTime shownAt_{};
};

}  // namespace mangrove::placement
