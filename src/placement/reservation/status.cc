#include "placement/reservation/status.h"

#include <algorithm>
#include <utility>

#include "api/wire/kind.h"
#include "base/check.h"
#include "base/text/time_text.h"
#include "json/merge_patch.h"
#include "placement/reservation/expiry.h"
#include "placement/reservation/reserve_pod.h"

namespace mangrove::placement {
namespace {

using Conditions = std::vector<api::ProbedCondition>;

api::ProbedCondition& at(Conditions& all, std::string_view type) {
  const auto found = std::ranges::find(all, type, &api::ProbedCondition::type);
  if (found != all.end()) return *found;
  all.push_back({});
  all.back().type = type;
  return all.back();
}

struct Said {
  std::string_view type, status, reason, message = "";
};
void say(Conditions& all, const Said& said, WallTime now) {
  api::ProbedCondition& one = at(all, said.type);
  if (one.status != said.status) one.lastTransitionTime = now;
  one.status = said.status;
  one.reason = said.reason;
  one.message = said.message;
  one.lastProbeTime = now;
}

api::ReservationStatus ended(const api::Reservation& reservation, std::string_view phase,
                             const Said& said, WallTime now) {
  api::ReservationStatus out = reservation.status;
  out.phase = phase;
  say(out.conditions, said, now);
  return out;
}

}  // namespace

api::ReservationStatus availableStatus(const api::Reservation& reservation, std::string_view node,
                                       WallTime now) {
  api::ReservationStatus out = reservation.status;
  out.phase = api::reservation_phase::kAvailable;
  out.nodeName = node;
  out.allocatable = reservedAmountsOf(reservation);
  out.conditions.clear();
  say(out.conditions, {"Scheduled", "True", "Scheduled"}, now);
  say(out.conditions, {"Ready", "True", "Available"}, now);
  return out;
}

api::ReservationStatus plannedStatus(const api::Reservation& reservation, std::string_view node,
                                     WallTime now) {
  api::ReservationStatus out = availableStatus(reservation, node, now);
  out.phase = api::reservation_phase::kWaiting;
  const std::string text = "begins at " + formatTime(startOf(reservation));
  say(out.conditions, {"Ready", "False", "NotBegun", text}, now);
  return out;
}

api::ReservationStatus unplannedStatus(const api::Reservation& reservation, WallTime now) {
  api::ReservationStatus out = reservation.status;
  out.phase = api::reservation_phase::kPending;
  const std::string text = "node " + std::exchange(out.nodeName, "") + " is gone";
  out.allocatable = {};
  out.conditions.clear();
  say(out.conditions, {"Scheduled", "False", "NodeGone", text}, now);
  return out;
}

std::optional<api::ReservationStatus> lateStatus(const api::Reservation& reservation,
                                                 std::string_view why, WallTime now) {
  api::ReservationStatus out = reservation.status;
  const api::ProbedCondition& ready = at(out.conditions, "Ready");
  if (ready.reason == "RoomNotFree" && ready.message == why) return std::nullopt;
  say(out.conditions, {"Ready", "False", "RoomNotFree", why}, now);
  return out;
}

std::optional<ObjectPatch> unschedulablePatch(const api::Pod& reservePod, std::string_view reason,
                                              std::string_view message, WallTime now) {
  const api::Condition* before = api::findCondition(reservePod.status.conditions, "PodScheduled");
  if (before && before->status == api::Truth::kTrue) return std::nullopt;
  if (before && before->reason == reason && before->message == message) return std::nullopt;
  Conditions conditions;
  if (before) {
    at(conditions, "Scheduled").status = "False";
    conditions.back().lastTransitionTime = before->lastTransitionTime;
  }
  say(conditions, {"Scheduled", "False", reason, message}, now);
  ObjectPatch out;
  out.kind = &api::kind::kReservation;
  out.name = reservationNameOf(reservePod);
  out.status = true;
  out.body["metadata"] = json::Object{{"uid", reservePod.meta.uid.str()}};
  out.body["status"] = json::Object{{"phase", api::reservation_phase::kPending},
                                    {"conditions", json::Array{api::toJson(conditions[0])}}};
  return out;
}

std::optional<api::ReservationStatus> nextStatus(const api::Reservation& reservation,
                                                 const ReservationUse& use, WallTime now,
                                                 bool nodeIsThere) {
  if (isTerminal(reservation)) return std::nullopt;
  api::ReservationStatus out = reservation.status;
  if (isAvailable(reservation)) {
    out.currentOwners = use.owners;
    out.allocated = use.allocated;
  }
  api::Reservation with = reservation;
  with.status = out;
  if (use.spent)
    return ended(with, api::reservation_phase::kSucceeded, {"Ready", "False", "Succeeded"}, now);
  if (isExpired(with, now, nodeIsThere))
    return ended(with, api::reservation_phase::kFailed, {"Ready", "False", "Expired"}, now);
  if (out.phase.empty()) out.phase = api::reservation_phase::kPending;
  if (out == reservation.status) return std::nullopt;
  return out;
}

ObjectPatch statusPatch(const api::Reservation& reservation, const api::ReservationStatus& wanted) {
  auto change = json::mergeDiff(api::toJson(reservation.status), api::toJson(wanted));
  CHECK(change.has_value(), "{}", change.error().text());  // no status has a null in it
  ObjectPatch out;
  out.kind = &api::kind::kReservation;
  out.name = reservation.meta.name.str();
  out.status = true;
  out.body["metadata"] = json::Object{{"uid", reservation.meta.uid.str()}};
  out.body["status"] = std::move(*change);
  return out;
}

}  // namespace mangrove::placement
