#include "placement/plugins/reservation/takeover.h"

#include "api/annotations/reservation.h"
#include "placement/plugins/reservation/judge.h"
#include "placement/reservation/reserve_pod.h"

namespace mangrove::placement {
namespace {

bool isClusterWide(const api::Reservation& reservation) {
  const auto& policy = reservation.spec.preAllocationPolicy;
  return policy && policy->mode == "Cluster";
}

CandidateList candidatesOf(const api::Reservation& reservation, const Cluster& cluster, Row row) {
  std::vector<const api::Pod*> pods;
  for (const PodPtr& pod : cluster.table.info(row).pods)
    if (!pod->isStandIn && !pod->assumed && !cluster.reservations.ofOwner(pod->pod->meta.uid))
      pods.push_back(pod->pod.get());
  if (isClusterWide(reservation)) return clusterCandidates(pods);
  const auto offer = ReservationOffer::of(reservation);
  if (!offer) return {};
  return ownCandidates(pods, *offer, cluster.table.node(row).meta.labels);
}

}  // namespace

std::string whyNoTakeover(const api::Reservation& reservation, const ReservationArgs& args) {
  if (!reservation.spec.isRestricted())
    return "reservation with pre-allocation must have allocatePolicy Restricted";
  if (isClusterWide(reservation) && !args.clusterPreAllocation)
    return "preAllocationPolicy.mode Cluster is not enabled in ReservationArgs";
  return "";
}

Takeover takeOver(const api::Reservation& reservation, const Cluster& cluster, Row row,
                  const ReservationArgs& args) {
  const auto& policy = reservation.spec.preAllocationPolicy;
  PreAllocationAsk ask;
  ask.request = amountsOf(reservedAmountsOf(reservation));
  ask.mustTake = api::requiresPreAllocation(reservation.meta.labels);
  ask.prefersFree = args.prefersFree;
  ask.takesSeveral = policy && policy->enableMultiple;
  const CandidateList list = candidatesOf(reservation, cluster, row);
  std::vector<Amounts> amounts;
  for (const api::Pod* pod : list.pods)
    amounts.push_back(
        cluster.reservations.amountsOfRequests(cluster.find(pod->meta.uid)->requests()));
  Takeover out;
  out.verdict = preAllocate(roomOfNode(cluster, row, ask.request, args), ask, amounts);
  for (size_t i : out.verdict.taken) out.pods.push_back(cluster.find(list.pods[i]->meta.uid));
  if (out.verdict.pass) out.score = scoreOf(out.verdict, ask, amounts);
  return out;
}

}  // namespace mangrove::placement
