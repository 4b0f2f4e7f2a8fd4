#include "placement/reservation/match.h"

#include <algorithm>

#include "api/annotations/node.h"
#include "api/pod/pod_requests.h"
#include "api/wire/names.h"

namespace mangrove::placement {
namespace {

Result<std::optional<api::NodeTerms>> termsOf(
    const std::optional<api::ReservationAffinity>& affinity) {
  if (!affinity || !affinity->required) return std::nullopt;
  api::NodeTerms terms(api::NodeSelector{affinity->required->terms});
  for (const api::NodeTerm& term : terms.terms())
    if (!term.trouble().empty())
      return fail(mangrove::Code::kInvalid, "annotation {}: reservationSelectorTerms: {}",
                  api::annotation::kReservationAffinity, term.trouble());
  return terms;
}

const std::vector<api::Toleration>& tolerationsOf(const ReservationClaim& claim) {
  static const std::vector<api::Toleration> kNone;
  return claim.affinity ? claim.affinity->tolerations : kNone;
}

const api::Taint& closedTaint() {
  static const api::Taint kTaint{
      Interned(api::taint::kUnschedulable), {}, api::TaintEffect::kNoSchedule, kZeroTime};
  return kTaint;
}

bool toleratesTaints(const ReservationClaim& claim, const ReservationOffer& offer) {
  return std::ranges::all_of(offer.taints, [&](const api::Taint& taint) {
    return taint.effect == api::TaintEffect::kPreferNoSchedule ||
           api::tolerates(tolerationsOf(claim), taint);
  });
}

bool wantsLabels(const ReservationClaim& claim) {
  return claim.affinity && (claim.terms || !claim.affinity->reservationSelector.empty());
}

bool likesLabels(const ReservationClaim& claim, const ReservationOffer& offer,
                 const api::Labels& node) {
  if (!wantsLabels(claim)) return true;
  api::Labels labels = node;
  for (const auto& [key, value] : offer.labels) labels.set(key.view(), value.view());
  const auto has = [&](const auto& wanted) { return labels.get(wanted.first) == wanted.second; };
  return std::ranges::all_of(claim.affinity->reservationSelector, has) &&
         (!claim.terms || claim.terms->match(offer.name, labels));
}

// An amount that neither side names is equal.
bool isExact(const ReservationClaim& claim, const ReservationOffer& offer) {
  return std::ranges::all_of(claim.exactly, [&](Interned name) {
    const Quantity* asked = claim.requests.find(name);
    const Quantity* offered = offer.allocatable.find(name);
    return asked && offered ? *asked == *offered : asked == offered;
  });
}

Meeting meetByName(const ReservationClaim& claim, const ReservationOffer& offer) {
  if (claim.affinity->name != offer.name) return Meeting::kOtherName;
  return isExact(claim, offer) ? Meeting::kMatched : Meeting::kNotExact;
}

Meeting meetAsOwner(const ReservationClaim& claim, const ReservationOffer& offer,
                    const api::Labels& node) {
  if (!offer.owners.match(*claim.pod)) return Meeting::kNotOwner;
  if (claim.affinity && !claim.affinity->name.empty()) return meetByName(claim, offer);
  if (offer.closed && !api::tolerates(tolerationsOf(claim), closedTaint())) return Meeting::kClosed;
  if (!toleratesTaints(claim, offer)) return Meeting::kUntoleratedTaint;
  if (!likesLabels(claim, offer, node)) return Meeting::kOtherLabels;
  return isExact(claim, offer) ? Meeting::kMatched : Meeting::kNotExact;
}

// Annotations a reservation's amounts depend on. Options of a policy that is not in force are not
// read.
Result<void> checkAnnotations(const api::Reservation& reservation) {
  const api::Annotations& annotations = reservation.meta.annotations;
  if (auto inner = api::parseNodeReservation(annotations); !inner) return pass(inner.error());
  if (!reservation.spec.isRestricted()) return {};
  auto options = api::parseReservationRestrictedOptions(annotations);
  if (!options) return pass(options.error());
  return {};
}

}  // namespace

Result<ReservationClaim> ReservationClaim::of(const api::Pod& pod) {
  auto affinity = api::parseReservationAffinity(pod.meta.annotations);
  if (!affinity) return pass(affinity.error());
  auto terms = termsOf(*affinity);
  if (!terms) return pass(terms.error());
  auto exact = api::parseExactMatchReservation(pod.meta.annotations);
  if (!exact) return pass(exact.error());
  ReservationClaim out;
  out.pod = &pod;
  out.ignores = api::ignoresReservations(pod.meta.labels);
  out.affinity = *std::move(affinity);
  out.terms = *std::move(terms);
  if (*exact)
    for (const std::string& name : (*exact)->resourceNames) out.exactly.emplace_back(name);
  out.requests = api::podRequests(pod);
  return out;
}

Result<ReservationOffer> ReservationOffer::of(const api::Reservation& reservation) {
  auto owners = OwnerTerms::compile(reservation.spec.owners);
  if (!owners) return owners.error().in("reservation {}", reservation.meta.name.view());
  if (auto readable = checkAnnotations(reservation); !readable)
    return readable.error().in("reservation {}", reservation.meta.name.view());
  ReservationOffer out;
  out.name = reservation.meta.name.str();
  out.labels = reservation.meta.labels;
  out.owners = *std::move(owners);
  out.available = reservation.status.phase == api::reservation_phase::kAvailable;
  out.allocatable = out.available ? reservation.status.allocatable
                                  : api::podRequests(*reservation.spec.podTemplate.spec);
  out.taints = reservation.spec.taints;
  out.once = reservation.spec.isAllocateOnce();
  out.closed = reservation.spec.unschedulable || reservation.meta.isDeleting();
  return out;
}

bool isMatchable(const ReservationOffer& offer, size_t owners) {
  return offer.available && !(offer.once && owners > 0);
}

Meeting meet(const ReservationClaim& claim, const ReservationOffer& offer, const api::Labels& node,
             size_t owners) {
  if (!isMatchable(offer, owners)) return Meeting::kNotMatchable;
  if (claim.ignores) return Meeting::kIgnored;
  return meetAsOwner(claim, offer, node);
}

bool mayTakeOver(const ReservationClaim& claim, const ReservationOffer& offer,
                 const api::Labels& node) {
  return !claim.ignores && meetAsOwner(claim, offer, node) == Meeting::kMatched;
}

}  // namespace mangrove::placement
