#pragma once
// Whether a reservation may serve a pod. Both sides are read once, a claim per pod and an offer per
// reservation; meeting them compares values only.
//
//   auto claim = ReservationClaim::of(pod);            // an error refuses the pod
//   auto offer = ReservationOffer::of(reservation);    // an error: it can serve nobody
//   if (serves(meet(*claim, *offer, node.labels, owners))) …
//
// A claim that names its reservation means that one whatever is said against using it: being
// unschedulable, taints and labels are not looked at then, only that the name is right and exact
// amounts are. Taints of reservations keep everybody out who does not tolerate them in his
// reservation-affinity, also pods without that annotation.
//
// Values; const access from any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/annotations/reservation.h"
#include "api/koordinator/reservation.h"
#include "api/pod/pod.h"
#include "api/select/label_selector.h"
#include "base/result.h"
#include "placement/reservation/owners.h"

namespace mangrove::placement {

// What a pod says about reservations.
struct ReservationClaim {
  const api::Pod* pod = nullptr;  // outlives the claim
  bool ignores = false;           // takes from the node as if nothing were reserved
  std::optional<api::ReservationAffinity> affinity;  // set: the pod must use a reservation
  std::optional<api::NodeTerms> terms;               // of the affinity, compiled
  std::vector<Interned> exactly;                     // resources whose amounts must be equal
  api::ResourceList requests;

  // Fails on annotations that are no JSON or hold a term that is none.
  static Result<ReservationClaim> of(const api::Pod& pod);
};

// What a reservation says about pods.
struct ReservationOffer {
  std::string name;
  api::Labels labels;
  OwnerTerms owners;
  api::ResourceList allocatable;  // before it is on a node: what its template asks for
  std::vector<api::Taint> taints;
  bool available = false;
  bool once = true;     // one owner and no more
  bool closed = false;  // unschedulable, or being deleted

  // Fails on owners and on annotations that cannot be read: such a reservation matches nobody.
  static Result<ReservationOffer> of(const api::Reservation& reservation);
};

enum class Meeting : uint8_t {
  kMatched,
  kIgnored,  // the pod may take its room without becoming its owner
  kNotMatchable,
  kNotOwner,
  kOtherName,
  kClosed,
  kUntoleratedTaint,
  kOtherLabels,
  kNotExact,
};
inline bool serves(Meeting meeting) {
  return meeting == Meeting::kMatched || meeting == Meeting::kIgnored;
}

// Whether it can have an owner more at all; `owners`: how many it has.
bool isMatchable(const ReservationOffer& offer, size_t owners);

// The first thing in the way. `node`: the labels of the reservation's node, which the
// reservation's own override.
Meeting meet(const ReservationClaim& claim, const ReservationOffer& offer, const api::Labels& node,
             size_t owners);
// The same for a reservation that has no place yet and looks for running pods to take over: it is
// not available, and a pod that ignores reservations is nobody's.
bool mayTakeOver(const ReservationClaim& claim, const ReservationOffer& offer,
                 const api::Labels& node);

}  // namespace mangrove::placement
