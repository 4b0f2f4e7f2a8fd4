// Reservations: whom they serve, when they end, and what fits into them.
#include "placement/reservation/expiry.h"
#include "placement/reservation/fit.h"
#include "placement/reservation/match.h"
#include "placement/reservation/pre_allocation.h"
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

std::string_view nameOfUnit(std::string_view key) {
  if (key == "cpu_milli") return "cpu";
  return key == "memory_bytes" ? "memory" : key;
}

Amounts amountsIn(const json::Object& c, std::string_view key) {
  Amounts out;
  if (const json::Value& list = member(c, key); list.is_object())
    for (const auto& [name, amount] : list.get_object())
      out.set(Interned(nameOfUnit(name)), amount.to_number<int64_t>());
  return out;
}

bool isTrue(const json::Object& c, std::string_view key) {
  const json::Value& value = member(c, key);
  return value.is_bool() && value.get_bool();
}

NodeRoom nodeOf(const json::Object& c) {
  NodeRoom out;
  out.allocatable = amountsIn(c, "node_allocatable");
  out.requested = amountsIn(c, "other_pods_request");
  return out;
}

// The reservation as an object, so that its annotations are read as they are in a cluster.
ReservedRoom roomOf(const json::Object& c, Report& r) {
  api::Reservation reservation;
  reservation.meta.name = text(c, "name");
  reservation.spec.allocatePolicy = text(c, "policy");
  reservation.status.allocatable = quantitiesOf(amountsIn(c, "reserved"));
  if (c.contains("restricted_options"))
    reservation.meta.annotations.set(api::annotation::kReservationRestrictedOptions,
                                     text(c, "restricted_options"));
  if (c.contains("inner_reservation"))
    reservation.meta.annotations.set(api::annotation::kNodeReservation,
                                     text(c, "inner_reservation"));
  auto room = ReservedRoom::of(reservation);
  if (!room) r.mismatch("reservation", "readable", room.error().text());
  return room ? std::move(*room) : ReservedRoom();
}

// On the node a reservation counts as a pod and its owners beside it.
void place(const json::Object& c, ReservedRoom& room, NodeRoom& node) {
  node.requested.add(room.allocatable);
  for (const json::Value& owner : member(c, "owner_pods").get_array()) {
    const Amounts request = amountsIn(json::Object{{"request", owner}}, "request");
    room.take(request);
    node.requested.add(request);
  }
}

json::Array texts(const std::vector<std::string>& list) {
  json::Array out;
  for (const std::string& one : list) out.emplace_back(one);
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

void reservationFit(const json::Object& c, Report& r) {
  NodeRoom node = nodeOf(c);
  std::vector<ReservedRoom> rooms;
  for (const json::Value& value : member(c, "reservations").get_array())
    place(value.get_object(), rooms.emplace_back(roomOf(value.get_object(), r)), node);
  const FitAsk ask{amountsIn(c, "pod_request"), isTrue(c, "pod_has_affinity"),
                   text(c, "affinity_name")};
  const FitVerdict got = fitReserved(node, rooms, ask);
  const json::Object& result = member(c, "result").get_object();
  r.expect("pass", member(result, "pass"), got.pass);
  if (!got.pass) r.expect("reasons", member(result, "reasons"), texts(got.reasons));
  json::Object scores;
  for (const ReservedRoom& room : rooms) scores[room.name] = scoreOf(room, ask.request);
  r.expect("reservation_scores", member(result, "reservation_scores"), scores);
}

void reservationPreAllocation(const json::Object& c, Report& r) {
  NodeRoom node = nodeOf(c);
  std::vector<Amounts> candidates;
  std::vector<std::string> names;
  for (const json::Value& value : member(c, "candidates").get_array()) {
    names.emplace_back(text(value.get_object(), "name"));
    node.requested.add(candidates.emplace_back(amountsIn(value.get_object(), "request")));
  }
  const PreAllocationAsk ask{amountsIn(c, "reservation_request"), isTrue(c, "required"),
                             isTrue(c, "prefer_no_pre_allocated_pods"),
                             isTrue(c, "enable_multiple")};
  const PreAllocationVerdict got = preAllocate(node, ask, candidates);
  const json::Object& result = member(c, "result").get_object();
  r.expect("pass", member(result, "pass"), got.pass);
  if (!got.pass) return r.expect("reasons", member(result, "reasons"), texts(got.reasons));
  json::Array taken;
  for (size_t i : got.taken) taken.emplace_back(names[i]);
  if (ask.takesSeveral) return r.expect("taken_over", member(result, "taken_over"), taken);
  r.expect("needs_takeover", member(result, "needs_takeover"), !got.taken.empty());
}

}  // namespace mangrove::vectors
