#include "api/annotations/reservation.h"

#include "api/wire/schema.h"
#include "base/text/time_text.h"

namespace mangrove::api {
namespace {

template <class Map>
Result<int64_t> numberOrZero(const Map& map, std::string_view key, std::string_view what) {
  const auto text = map.get(key);
  if (!text || text->empty()) return 0;
  auto number = parseGoInt(*text);
  if (!number) return number.error().in("{} {}", what, key);
  return number;
}

}  // namespace

static constexpr Schema kAllocated{
    unlessUnset<&ReservationAllocated::name>("name"),
    unlessUnset<&ReservationAllocated::uid>("uid"),
};
bool read(const In& in, ReservationAllocated& out) {
  return kAllocated.read(in, out);
}
json::Value toJson(const ReservationAllocated& value) {
  return kAllocated.write(value);
}
Result<std::optional<ReservationAllocated>> parseReservationAllocated(const Annotations& pod) {
  return parseAnnotation<ReservationAllocated>(pod, annotation::kReservationAllocated);
}

using Required = ReservationAffinity::Required;
static constexpr Schema kRequired{unlessUnset<&Required::terms>("reservationSelectorTerms")};
bool read(const In& in, ReservationAffinity::Required& out) {
  return kRequired.read(in, out);
}
json::Value toJson(const ReservationAffinity::Required& value) {
  return kRequired.write(value);
}

static constexpr Schema kAffinity{
    unlessUnset<&ReservationAffinity::name>("name"),
    unlessUnset<&ReservationAffinity::required>("requiredDuringSchedulingIgnoredDuringExecution"),
    unlessUnset<&ReservationAffinity::reservationSelector>("reservationSelector"),
    unlessUnset<&ReservationAffinity::tolerations>("tolerations"),
};
bool read(const In& in, ReservationAffinity& out) {
  return kAffinity.read(in, out);
}
json::Value toJson(const ReservationAffinity& value) {
  return kAffinity.write(value);
}
Result<std::optional<ReservationAffinity>> parseReservationAffinity(const Annotations& pod) {
  if (pod.get(annotation::kReservationAffinity) == "") return ReservationAffinity{};
  return parseAnnotation<ReservationAffinity>(pod, annotation::kReservationAffinity);
}

static constexpr Schema kRestricted{
    unlessUnset<&ReservationRestrictedOptions::resources>("resources"),
};
bool read(const In& in, ReservationRestrictedOptions& out) {
  return kRestricted.read(in, out);
}
json::Value toJson(const ReservationRestrictedOptions& value) {
  return kRestricted.write(value);
}
Result<std::optional<ReservationRestrictedOptions>> parseReservationRestrictedOptions(
    const Annotations& reservation) {
  return parseAnnotation<ReservationRestrictedOptions>(
      reservation, annotation::kReservationRestrictedOptions, WhenEmpty::kAbsent);
}

namespace {
struct Resize {
  ResourceList resources;
};
bool read(const In& in, Resize& out) {
  static constexpr Fields fields{field<&Resize::resources>("resources")};
  return fields.read(in, out);
}
}  // namespace
Result<std::optional<ResourceList>> parseReservationResize(const Annotations& reservation) {
  auto found = parseAnnotation<Resize>(reservation, annotation::kReservationResizeAllocatable,
                                       WhenEmpty::kAbsent);
  if (!found) return pass(found.error());
  if (!*found) return std::nullopt;
  return (*found)->resources;
}

static constexpr Schema kExact{
    unlessUnset<&ExactMatchReservation::resourceNames>("resourceNames"),
};
bool read(const In& in, ExactMatchReservation& out) {
  return kExact.read(in, out);
}
json::Value toJson(const ExactMatchReservation& value) {
  return kExact.write(value);
}
Result<std::optional<ExactMatchReservation>> parseExactMatchReservation(const Annotations& pod) {
  return parseAnnotation<ExactMatchReservation>(pod, annotation::kExactMatchReservation,
                                                WhenEmpty::kAbsent);
}

Result<std::optional<std::vector<ReservationOwner>>> parseReservationOwners(
    const Annotations& pod) {
  return parseAnnotation<std::vector<ReservationOwner>>(pod, annotation::kReservationOwners,
                                                        WhenEmpty::kAbsent);
}

Result<std::optional<ObjectRef>> parseReservationCurrentOwner(const Annotations& pod) {
  return parseAnnotation<ObjectRef>(pod, annotation::kReservationCurrentOwner, WhenEmpty::kAbsent);
}

bool isReservationPod(const Labels& pod) {
  return pod.get(label::kOperatingMode) == "Reservation";
}

bool ignoresReservations(const Labels& pod) {
  return isTrueLabel(pod, label::kReservationIgnored);
}

bool requiresPreAllocation(const Labels& pod) {
  return isTrueLabel(pod, label::kPreAllocationRequired);
}

Result<int64_t> parseReservationOrder(const Labels& reservation) {
  return numberOrZero(reservation, label::kReservationOrder, "label");
}

bool isPreAllocatable(const Labels& pod) {
  return isTrueLabel(pod, label::kPreAllocatable);
}

Result<int64_t> parsePreAllocatablePriority(const Annotations& pod) {
  return numberOrZero(pod, annotation::kPreAllocatablePriority, "annotation");
}

Result<std::optional<WallTime>> parseReservationStart(const Annotations& reservation) {
  const auto text = reservation.get(annotation::kReservationStart);
  if (!text || text->empty()) return std::nullopt;
  const auto start = parseTime(*text);
  if (!start)
    return invalid("annotation {}: '{}' is no time, want something like 2026-03-01T12:00:00Z",
                   annotation::kReservationStart, *text);
  return *start;
}

}  // namespace mangrove::api
