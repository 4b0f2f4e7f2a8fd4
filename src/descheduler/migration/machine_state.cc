#include "descheduler/migration/machine_state.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/annotations/checkpoint.h"

namespace mangrove::descheduler {
namespace {

namespace rp = api::reservation_phase;

bool isScheduled(const api::Reservation& reservation) {
  const auto* scheduled = conditionOf(reservation.status.conditions, "Scheduled");
  return !reservation.status.nodeName.empty() && scheduled != nullptr &&
         scheduled->status == "True";
}

bool isExpired(const api::Reservation& reservation) {
  const auto* ready = conditionOf(reservation.status.conditions, "Ready");
  return ready != nullptr && ready->reason == "Expired";
}

std::string nameOf(const api::Reservation& reservation) {
  return reservation.meta.name.str();
}

}  // namespace

Step Progression::step() {
  if (changed_ && status_ != sight_.job.status) step_.status = status_;
  return step_;
}

bool Progression::fail(std::string_view why, std::string message) {
  status_ = failedBy(std::move(status_), why, message);
  changed_ = true;
  step_.event = std::move(message);
  const bool inUse =
      sight_.reservation != nullptr && !sight_.reservation->status.currentOwners.empty();
  step_.act =
      sight_.reservation != nullptr && !inUse ? Step::Act::kDeleteReservation : Step::Act::kNothing;
  return false;
}

void Progression::adoptPod() {
  step_.podUid = sight_.pod->meta.uid.str();
  if (job().spec.podRef->uid == step_.podUid) step_.podUid.clear();
  status_.phase = phase::kRunning;
  changed_ = true;
}

void Progression::set(std::string_view type, bool isTrue, std::string_view why,
                      std::string_view message) {
  const api::Truth truth = isTrue ? api::Truth::kTrue : api::Truth::kFalse;
  setCondition(status_, type, truth, why, message, sight_.now);
  changed_ = true;
}

void Progression::intendEviction() {
  if (isEvictionIntended()) return;
  setCondition(status_, condition::kEviction, api::Truth::kUnknown, reason::kEvicting,
               "the pod is about to be asked to leave", sight_.now);
  changed_ = true;
}

bool Progression::isSet(std::string_view type, std::string_view word) const {
  const auto* found = conditionOf(status_.conditions, type);
  return found != nullptr && found->status == word;
}

bool Progression::isForPendingPod() const {
  const auto& owners = sight_.reservation->spec.owners;
  return std::any_of(owners.begin(), owners.end(), [](const api::ReservationOwner& owner) {
    return owner.object && !owner.controller && !owner.labelSelector;
  });
}

// Available, or used up by the pod that was waited for.
bool Progression::stands(const api::Reservation& reservation) {
  const std::string& state = reservation.status.phase;
  const auto* scheduled = conditionOf(reservation.status.conditions, "Scheduled");
  if (scheduled != nullptr && scheduled->reason == reason::kUnschedulable) {
    set(condition::kReservationScheduled, false, reason::kUnschedulable, scheduled->message);
  }
  if (state.empty() || state == rp::kPending || state == rp::kWaiting) return false;
  if (state == rp::kFailed && isExpired(reservation)) {
    return fail(reason::kReservationExpired,
                fmt::format("reservation {} has expired", nameOf(reservation)));
  }
  if (!isScheduled(reservation) || (state != rp::kAvailable && state != rp::kSucceeded)) {
    return fail(reason::kUnschedulable,
                fmt::format("reservation {} found no node ({})", nameOf(reservation), state));
  }
  return true;
}

bool Progression::isElsewhere(const api::Reservation& reservation) {
  const api::Pod* pod = sight_.pod;
  // A pod that had no node is meant to come here.
  if (isEvictionSent() || isForPendingPod() || isGone() ||
      pod->nodeName.view() != reservation.status.nodeName)
    return true;
  return fail(reason::kForbidden, fmt::format("reservation {} is on the pod's own node {}",
                                              nameOf(reservation), reservation.status.nodeName));
}

bool Progression::reserve() {
  const auto& options = job().spec.reservationOptions;
  if (!options || !options->reservationRef || options->reservationRef->name.empty()) {
    step_.act = Step::Act::kCreateReservation;
    return false;
  }
  const api::Reservation* reservation = sight_.reservation;
  if (reservation == nullptr) {
    return fail(reason::kMissingReservation,
                fmt::format("reservation {} is gone", options->reservationRef->name));
  }
  set(condition::kReservationCreated, true);
  if (!stands(*reservation) || !isElsewhere(*reservation)) return false;
  status_.nodeName = reservation->status.nodeName;
  set(condition::kReservationScheduled, true);
  return true;
}

bool Progression::isGone() const {
  if (sight_.pod == nullptr) return true;
  // A StatefulSet brings a namesake back: not the one that was sent away.
  return isEvictionIntended() && sight_.pod->meta.uid.str() != job().spec.podRef->uid;
}

bool Progression::gone() {
  if (!isEvictionIntended()) {
    return fail(reason::kMissingPod, "the pod was gone before it was evicted");
  }
  set(condition::kEviction, true, reason::kEvictComplete, "the pod is gone");
  return true;
}

bool Progression::isInCompany() {
  const Company company = sight_.company;
  if (company == Company::kNone || company == Company::kReady || isEvictionIntended()) return true;
  if (company == Company::kWaits) return false;
  return fail(reason::kCompanionFailed, "one that was to move together with it does not move");
}

bool Progression::hasSaved() {
  if (!sight_.savesFirst || isEvictionIntended()) return true;
  using Saving = api::CheckpointStep::Step;
  const api::CheckpointStep saving =
      api::stepOf(api::saidCheckpoint(sight_.pod->meta.annotations), sight_.now);
  if (saving.mayGo()) return true;
  if (saving.step == Saving::kTooLate && sight_.company != Company::kNone) return true;
  if (saving.step == Saving::kTooLate)
    return fail(reason::kNotSaved, "the pod was asked to save first and has not in time");
  if (saving.step == Saving::kAsk) step_.act = Step::Act::kAskToSave;
  if (saving.step == Saving::kWait) step_.lookAt = saving.until;
  return false;
}

bool Progression::evict() {
  if (isPastEviction()) return true;
  if (isGone()) return gone();
  if (isSet(condition::kEviction, "False")) return false;  // sent; its end is an event
  const api::Reservation* reservation = sight_.reservation;
  if (reservation != nullptr && reservation->status.phase == rp::kSucceeded) {
    return fail(reason::kForbidden,
                fmt::format("reservation {} was taken by another pod", nameOf(*reservation)));
  }
  if (!hasSaved()) return false;
  intendEviction();
  step_.act = Step::Act::kEvict;
  return false;
}

bool Progression::waitUntilScheduled() {
  const api::Pod* pod = sight_.pod;
  if (pod == nullptr) return fail(reason::kMissingPod, "the pod is gone");
  if (api::isTrue(pod->status.conditions, "PodScheduled") || !pod->nodeName.empty()) {
    set(condition::kPodScheduled, true);
    return true;
  }
  if (sight_.reservation->status.phase == rp::kSucceeded) {
    return fail(reason::kForbidden, fmt::format("reservation {} was taken by another pod",
                                                nameOf(*sight_.reservation)));
  }
  set(condition::kPodScheduled, false, reason::kUnschedulable, "the pod has no node yet");
  return false;
}

bool Progression::waitUntilBound() {
  const auto& owners = sight_.reservation->status.currentOwners;
  if (owners.empty()) {
    set(condition::kPodBoundReservation, false, reason::kWaitForBind,
        "no pod has taken the reservation yet");
    return false;
  }
  status_.podRef = owners.front();
  set(condition::kReservationBound, true);
  const api::Pod* pod = sight_.boundPod;
  if (pod != nullptr && !api::isTrue(pod->status.conditions, "Ready")) {
    set(condition::kBoundPodReady, false, reason::kWaitForReady, "the new pod is not ready yet");
    return false;
  }
  set(condition::kBoundPodReady, true);
  set(condition::kPodBoundReservation, true);
  return true;
}

}  // namespace mangrove::descheduler
