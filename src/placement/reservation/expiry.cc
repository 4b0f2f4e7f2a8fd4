#include "placement/reservation/expiry.h"

#include <algorithm>

#include "base/number/elapsed.h"
#include "placement/reservation/reserve_pod.h"

namespace mangrove::placement {
namespace {

constexpr Duration kShortestLook = std::chrono::seconds(3);
constexpr Duration kLongestLook = std::chrono::seconds(15);

const api::ProbedCondition* readyOf(const api::Reservation& reservation) {
  const auto& all = reservation.status.conditions;
  const auto at = std::ranges::find(all, "Ready", &api::ProbedCondition::type);
  return at == all.end() ? nullptr : &*at;
}

bool lostNode(const api::Reservation& reservation, bool nodeIsThere) {
  return !reservation.status.nodeName.empty() && !nodeIsThere;
}

// Since when it has been over; nullopt: it is not, or not in a way that is swept up.
std::optional<WallTime> overSince(const api::Reservation& reservation) {
  const api::ProbedCondition* ready = readyOf(reservation);
  if (!ready) return std::nullopt;
  if (reservation.status.phase == api::reservation_phase::kSucceeded) return ready->lastProbeTime;
  const bool expired =
      reservation.status.phase == api::reservation_phase::kFailed && ready->reason == "Expired";
  return expired ? std::optional(ready->lastTransitionTime) : std::nullopt;
}

}  // namespace

std::optional<WallTime> endOf(const api::Reservation& reservation) {
  if (reservation.spec.expires != kZeroTime) return reservation.spec.expires;
  const Duration ttl = reservation.spec.ttl.value_or(kDefaultReservationTtl);
  if (ttl == Duration::zero()) return std::nullopt;
  const WallTime from = std::max(reservation.meta.creationTimestamp, startOf(reservation));
  return from + std::chrono::floor<WallTime::duration>(ttl);
}

bool isTerminal(const api::Reservation& reservation) {
  return reservation.status.phase == api::reservation_phase::kSucceeded ||
         reservation.status.phase == api::reservation_phase::kFailed;
}

bool isExpired(const api::Reservation& reservation, WallTime now, bool nodeIsThere) {
  if (isTerminal(reservation)) return false;
  const auto end = endOf(reservation);
  return lostNode(reservation, nodeIsThere) || (end && now > *end);
}

Duration untilNextLook(const api::Reservation& reservation, WallTime now) {
  const auto end = endOf(reservation);
  if (!end) return kLongestLook;
  return std::clamp<Duration>(*end - now, kShortestLook, kLongestLook);
}

bool isCollectible(const api::Reservation& reservation, WallTime now, Duration keep,
                   bool nodeIsThere) {
  const auto since = overSince(reservation);
  return since && (lostNode(reservation, nodeIsThere) || elapsed(*since, now) > keep);
}

}  // namespace mangrove::placement
