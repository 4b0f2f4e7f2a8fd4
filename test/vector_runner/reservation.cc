// Reservations: whom they serve, when they end, and what fits into them.
#include "placement/reservation/expiry.h"
#include "placement/reservation/match.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {
namespace {

using namespace placement;

template <class T>
T decoded(const json::Value& value, Report& r) {
  auto out = api::decodeText<T>(json::write(value));
  if (!out) r.mismatch("input", "readable", out.error().text());
  return out ? std::move(*out) : T();
}

std::chrono::seconds seconds(const json::Object& c, std::string_view key) {
  return std::chrono::seconds(static_cast<int64_t>(number(c, key)));
}

api::Reservation agedReservation(const json::Object& c, WallTime now) {
  api::Reservation out;
  out.meta.creationTimestamp = now - seconds(c, "age_seconds");
  out.status.phase = text(c, "phase");
  out.status.nodeName = "n";
  if (c.contains("ttl_seconds")) out.spec.ttl = seconds(c, "ttl_seconds");
  if (c.contains("expires_in_seconds")) out.spec.expires = now + seconds(c, "expires_in_seconds");
  if (!c.contains("ready_reason")) return out;
  const WallTime changed = now - seconds(c, "ready_changed_seconds_ago");
  out.status.conditions.push_back(
      {"Ready", "False", std::string(text(c, "ready_reason")), "", changed, changed});
  return out;
}

}  // namespace

void reservationExpiry(const json::Object& c, Report& r) {
  const WallTime now{std::chrono::hours(24 * 365 * 50)};
  const api::Reservation reservation = agedReservation(c, now);
  r.expect("expires_now", member(c, "expires_now"), isExpired(reservation, now, true));
  r.expect("collected_now", member(c, "collected_now"),
           isCollectible(reservation, now, seconds(c, "gc_duration_seconds"), true));
}

void reservationOwnerMatch(const json::Object& c, Report& r) {
  const json::Object spec{{"owners", member(c, "owners")}};
  const auto reservation = decoded<api::Reservation>(json::Object{{"spec", spec}}, r);
  const auto pod = decoded<api::Pod>(member(c, "pod"), r);
  const auto owners = OwnerTerms::compile(reservation.spec.owners);
  r.expect("match", member(c, "match"), owners && owners->match(pod));
}

void reservationMatch(const json::Object& c, Report& r) {
  const auto pod = decoded<api::Pod>(member(c, "pod"), r);
  const auto node = decoded<api::ObjectHead>(
      json::Object{{"metadata", json::Object{{"labels", member(c, "node_labels")}}}}, r);
  const auto claim = ReservationClaim::of(pod);
  const auto offer = ReservationOffer::of(decoded<api::Reservation>(member(c, "reservation"), r));
  const auto owners = static_cast<size_t>(number(c, "assigned_owner_pods"));
  const json::Object& result = member(c, "result").get_object();
  r.expect("matchable", member(result, "matchable"), offer && isMatchable(*offer, owners));
  r.expect("match", member(result, "match"),
           claim && offer && serves(meet(*claim, *offer, node.meta.labels, owners)));
}

}  // namespace mangrove::vectors
