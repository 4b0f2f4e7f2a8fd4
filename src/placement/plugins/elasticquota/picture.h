#pragma once
// The quotas of a cluster put together from its objects, with every pod in them, for those who only
// look: `explain`, `check quota`, `top` and the dashboard.
//
//   QuotaPicture picture(args);
//   picture.node(node);  picture.quota(quota);  …  picture.pod(pod, now);      // in this order
//   picture.reservation(reservation, now);
//   quotaPage(picture.desk(), picture.borrowings(), "quotas/team-a")
//
// One thread.

#include <memory>

#include "placement/plugins/elasticquota/page.h"

namespace mangrove::placement {

class QuotaPicture {
 public:
  explicit QuotaPicture(QuotaArgs args, QuotaGates gates = {})
      : args_(std::move(args)), gates_(gates) {}

  void node(const std::shared_ptr<const api::Node>& node);
  void quota(const std::shared_ptr<const api::ElasticQuota>& quota);
  void pod(const api::Pod& pod, WallTime now);
  void reservation(const api::Reservation& reservation, WallTime now);

  QuotaDesk& desk();
  Borrowings borrowings() const { return borrowingsOn(cluster_); }

 private:
  QuotaArgs args_;
  QuotaGates gates_;
  Cluster cluster_;
  std::unique_ptr<QuotaDesk> desk_;
};

}  // namespace mangrove::placement
