#include "placement/reservation/reserve_pod.h"

#include <algorithm>
#include <limits>

#include "api/annotations/reservation.h"
#include "api/pod/pod_requests.h"
#include "api/wire/names.h"
#include "base/text/strings.h"
#include "placement/reservation/expiry.h"
#include "placement/reservation/room.h"

namespace mangrove::placement {
namespace {

constexpr std::string_view kTrue = "true";

api::PodPhase phaseOf(const api::Reservation& reservation) {
  const std::string& phase = reservation.status.phase;
  if (phase == api::reservation_phase::kSucceeded) return api::PodPhase::kSucceeded;
  if (phase == api::reservation_phase::kFailed) return api::PodPhase::kFailed;
  return isAvailable(reservation) ? api::PodPhase::kRunning : api::PodPhase::kPending;
}

// Nobody's victim unless the template says how important it is.
int32_t priorityOf(const api::Reservation& reservation) {
  return saidPriority(reservation).value_or(std::numeric_limits<int32_t>::max());
}

// One container for everything, when the amounts are not those of the template.
void setAmounts(const api::ResourceList& amounts, api::PodSpec& spec) {
  api::Container all;
  all.name = Interned("reserved");
  all.requests = amounts;
  for (const api::Container& container : spec.containers)
    all.ports.insert(all.ports.end(), container.ports.begin(), container.ports.end());
  spec.containers = {std::move(all)};
  spec.initContainers.clear();
  spec.overhead = {};
  spec.podRequests = {};
  spec.podLimits = {};
  spec.hasPodResources = false;
}

// Equal templates give one spec, so that equal reservations are one class of pods.
api::Shared<api::PodSpec> specOf(const api::Reservation& reservation) {
  const auto& given = reservation.spec.podTemplate.spec;
  api::PodSpec spec = *given;
  spec.priority = priorityOf(reservation);
  const api::ResourceList amounts = reservedAmountsOf(reservation);
  if (!(amounts == api::podRequests(spec))) setAmounts(amounts, spec);
  const auto digest = reinterpret_cast<uintptr_t>(given.id()) + 1;
  return api::Shared<api::PodSpec>::pooled(std::move(spec), digest);
}

void addMeta(const api::Reservation& reservation, api::ObjectMeta& out) {
  const api::ObjectMeta& meta = reservation.meta;
  for (const auto& [key, value] : meta.labels) out.labels.set(key.view(), value.view());
  for (const auto& [key, value] : meta.annotations) out.annotations.set(key.view(), value.view());
  out.labels.set(api::label::kDisablePreemptible, kTrue);
  out.annotations.set(api::annotation::kReservePod, kTrue);
  out.annotations.set(api::annotation::kReservationName, meta.name.view());
  out.annotations.set(kReservePolicy, reservation.spec.allocatePolicy);
  if (const Interned node = reservation.spec.podTemplate.nodeName; !node.empty())
    out.annotations.set(api::annotation::kReservationNode, node.view());
  if (reservation.spec.preAllocation) out.annotations.set(api::annotation::kIsPreAllocation, kTrue);
}

// What was said about its place, so that nothing is said twice.
std::vector<api::Condition> conditionsOf(const api::Reservation& reservation) {
  const auto& all = reservation.status.conditions;
  const auto at = std::ranges::find(all, "Scheduled", &api::ProbedCondition::type);
  if (at == all.end()) return {};
  api::Condition out;
  out.type = Interned("PodScheduled");
  out.status = at->status == "True" ? api::Truth::kTrue : api::Truth::kFalse;
  out.reason = Interned(at->reason);
  out.message = api::Text(at->message);
  out.lastTransitionTime = at->lastTransitionTime;
  return {out};
}

}  // namespace

bool isAvailable(const api::Reservation& reservation) {
  return reservation.status.phase == api::reservation_phase::kAvailable &&
         !reservation.status.nodeName.empty();
}

bool isPlanned(const api::Reservation& reservation) {
  return reservation.status.phase == api::reservation_phase::kWaiting &&
         !reservation.status.nodeName.empty();
}

WallTime startOf(const api::Reservation& reservation) {
  const auto start = api::parseReservationStart(reservation.meta.annotations);
  return start ? start->value_or(kZeroTime) : kZeroTime;
}

std::optional<int32_t> saidPriority(const api::Reservation& reservation) {
  if (const auto own = reservation.spec.podTemplate.spec->priority) return *own;
  const auto label = reservation.meta.labels.get(api::label::kPriority);
  return label ? parseInt<int32_t>(*label) : std::nullopt;
}

Result<> checkReservation(const api::Reservation& reservation) {
  const std::string_view name = reservation.meta.name;
  if (reservation.spec.owners.empty())
    return fail(mangrove::Code::kInvalid,
                "reservation {}: spec.owners is empty, want at least one owner", name);
  if (reservation.spec.podTemplate.spec->containers.empty())
    return fail(mangrove::Code::kInvalid,
                "reservation {}: spec.template has no containers, want a pod template", name);
  if (auto policy = allocatePolicyOf(reservation.spec.allocatePolicy); !policy)
    return policy.error().in("reservation {}", name);
  if (auto resized = api::parseReservationResize(reservation.meta.annotations); !resized)
    return resized.error().in("reservation {}", name);
  if (auto start = api::parseReservationStart(reservation.meta.annotations); !start)
    return start.error().in("reservation {}", name);
  return {};
}

api::ResourceList reservedAmountsOf(const api::Reservation& reservation) {
  api::ResourceList out = api::podRequests(*reservation.spec.podTemplate.spec);
  if (isAvailable(reservation) || isPlanned(reservation) || isTerminal(reservation)) {
    if (!reservation.status.allocatable.empty()) return reservation.status.allocatable;
  }
  const auto resized = api::parseReservationResize(reservation.meta.annotations);
  if (resized && *resized)
    for (const auto& entry : **resized) out.set(entry.name.view(), entry.amount);
  return out;
}

api::Pod reservePodOf(const api::Reservation& reservation) {
  const api::PodTemplate& given = reservation.spec.podTemplate;
  api::Pod out;
  out.meta.uid = reservation.meta.uid;
  out.meta.name = api::Text(reservation.meta.uid.str());
  out.meta.ns = given.meta.ns.empty() ? Interned("default") : given.meta.ns;
  out.meta.resourceVersion = reservation.meta.resourceVersion;
  out.meta.creationTimestamp = reservation.meta.creationTimestamp;
  out.meta.deletionTimestamp = reservation.meta.deletionTimestamp;
  out.meta.labels = given.meta.labels;
  out.meta.annotations = given.meta.annotations;
  addMeta(reservation, out.meta);
  out.spec = specOf(reservation);
  out.status.phase = phaseOf(reservation);
  out.status.conditions = conditionsOf(reservation);
  if (isAvailable(reservation) || isPlanned(reservation))
    out.nodeName = Interned(reservation.status.nodeName);
  return out;
}

bool isReservePod(const api::Pod& pod) {
  static const Interned key(api::annotation::kReservePod);  // asked of every pod
  const api::Text* said = pod.meta.annotations.find(key);
  return said != nullptr && *said == kTrue && pod.meta.name.view() == pod.meta.uid.str();
}

std::string_view reservationNameOf(const api::Pod& reservePod) {
  return reservePod.meta.annotations.get(api::annotation::kReservationName).value_or("");
}

}  // namespace mangrove::placement
