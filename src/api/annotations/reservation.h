#pragma once
// How pods meet reservations: what a pod got, which reservations it wants, who owns a pod that is
// itself a reservation, and the switches between them.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/annotations/annotation.h"
#include "api/koordinator/reservation.h"
#include "api/pod/affinity.h"

namespace mangrove::api {

struct ReservationAllocated {
  std::string name;
  std::string uid;
  bool operator==(const ReservationAllocated&) const = default;
};
bool read(const In& in, ReservationAllocated& out);
json::Value toJson(const ReservationAllocated& value);
Result<std::optional<ReservationAllocated>> parseReservationAllocated(const Annotations& pod);

struct ReservationAffinity {
  struct Required {
    std::vector<NodeSelectorTerm> terms;  // over the reservation's labels; ORed
    bool operator==(const Required&) const = default;
  };
  std::string name;  // this one and no other
  std::optional<Required> required;
  std::map<std::string, std::string> reservationSelector;
  std::vector<Toleration> tolerations;
  bool operator==(const ReservationAffinity&) const = default;
};
bool read(const In& in, ReservationAffinity::Required& out);
json::Value toJson(const ReservationAffinity::Required& value);
bool read(const In& in, ReservationAffinity& out);
json::Value toJson(const ReservationAffinity& value);
// "" is an affinity that is there and asks for nothing in particular: the pod wants some
// reservation.
Result<std::optional<ReservationAffinity>> parseReservationAffinity(const Annotations& pod);

// On a Reservation: the resources a Restricted policy applies to; none means all reserved ones. ""
// is absent.
struct ReservationRestrictedOptions {
  std::vector<std::string> resources;
  bool operator==(const ReservationRestrictedOptions&) const = default;
};
bool read(const In& in, ReservationRestrictedOptions& out);
json::Value toJson(const ReservationRestrictedOptions& value);
Result<std::optional<ReservationRestrictedOptions>> parseReservationRestrictedOptions(
    const Annotations& reservation);

// On a Reservation: what it reserves once it is placed, instead of what its template asks for. "" is
// absent.
Result<std::optional<ResourceList>> parseReservationResize(const Annotations& reservation);

// On a Reservation: when it begins (RFC 3339); ours, Koordinator has nothing like it. Before that its
// room may be used by whoever will be gone by then.
namespace annotation {
inline constexpr std::string_view kReservationStart = "colocation.mangrove.io/reservation-start";
}
Result<std::optional<WallTime>> parseReservationStart(const Annotations& reservation);

// On a pod: amounts of these resources must equal the reservation's. "" is absent.
struct ExactMatchReservation {
  std::vector<std::string> resourceNames;
  bool operator==(const ExactMatchReservation&) const = default;
};
bool read(const In& in, ExactMatchReservation& out);
json::Value toJson(const ExactMatchReservation& value);
Result<std::optional<ExactMatchReservation>> parseExactMatchReservation(const Annotations& pod);

// On a pod in operating mode Reservation. "" is absent for both.
Result<std::optional<std::vector<ReservationOwner>>> parseReservationOwners(const Annotations& pod);
Result<std::optional<ObjectRef>> parseReservationCurrentOwner(const Annotations& pod);
// Label operating-mode; everything but "Reservation" is an ordinary pod.
bool isReservationPod(const Labels& pod);

// Label reservation-ignored=true: takes from the node as if nothing were reserved.
bool ignoresReservations(const Labels& pod);
// Label pre-allocation-required=true.
bool requiresPreAllocation(const Labels& pod);
// Label reservation-order on a Reservation: lower is taken first, 0 and absent leave it to the
// score.
Result<int64_t> parseReservationOrder(const Labels& reservation);
// Label is-pre-allocatable=true and its order among such pods (higher first, 0 when absent).
bool isPreAllocatable(const Labels& pod);
Result<int64_t> parsePreAllocatablePriority(const Annotations& pod);

}  // namespace mangrove::api
