#pragma once
// Who may use a reservation: spec.owners, compiled once.
//
//   auto owners = OwnerTerms::compile(reservation.spec.owners);
//   if (owners->match(pod)) …
//
// Terms are alternatives; within one, object, controller and labelSelector must all hold, and what
// is absent or empty there asks for nothing. So no terms match no pod, and an empty term every pod.
// The kind of an object reference is not looked at: only pods are asked about.
//
// Values; const access from any thread.

#include <optional>
#include <vector>

#include "api/koordinator/reservation.h"
#include "api/pod/pod.h"
#include "base/result.h"

namespace mangrove::placement {

class OwnerTerms {
 public:
  OwnerTerms() = default;  // matches nothing
  // Fails on a labelSelector that is none, naming the term.
  static Result<OwnerTerms> compile(const std::vector<api::ReservationOwner>& owners);

  bool match(const api::Pod& pod) const;
  // By label selectors alone; terms without one select nobody here. It is how running pods are
  // found for a reservation that takes pods over, where an empty term must not mean all of them.
  bool selects(const api::Labels& labels) const;

 private:
  struct Term {
    std::optional<api::ObjectRef> object;
    std::optional<api::ControllerReference> controller;
    std::optional<api::Selector> labels;
  };
  static bool holds(const Term& term, const api::Pod& pod);
  std::vector<Term> terms_;
};

}  // namespace mangrove::placement
