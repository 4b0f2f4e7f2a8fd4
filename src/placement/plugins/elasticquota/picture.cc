#include "placement/plugins/elasticquota/picture.h"

#include "placement/intake/transform.h"
#include "placement/reservation/reserve_pod.h"

namespace mangrove::placement {

void QuotaPicture::node(const std::shared_ptr<const api::Node>& node) {
  auto seen = std::make_shared<api::Node>(*node);
  transformNode(*seen);
  cluster_.putNode(seen);
}

void QuotaPicture::quota(const std::shared_ptr<const api::ElasticQuota>& quota) {
  cluster_.putQuota(api::keyOf(quota->meta).text(), quota);
}

// Nodes and quotas are known by now.
QuotaDesk& QuotaPicture::desk() {
  if (!desk_) desk_ = std::make_unique<QuotaDesk>(cluster_, args_, gates_);
  return *desk_;
}

void QuotaPicture::pod(const api::Pod& pod, WallTime now) {
  api::Pod seen = pod;
  transformPod(seen);
  desk().see(seen, false, now);
}

// It counts for what its owners have not taken, as its status says.
void QuotaPicture::reservation(const api::Reservation& reservation, WallTime now) {
  if (!checkReservation(reservation)) return;
  auto left = std::make_shared<Amounts>(amountsOf(reservedAmountsOf(reservation)));
  const Amounts reserved = *left;
  left->subtract(amountsOf(reservation.status.allocated));
  left->holdAboveZero();
  left->keepOnly(reserved);
  desk().see(reservePodOf(reservation), false, now, left);
}

}  // namespace mangrove::placement
