#include "api/koordinator/reservation.h"

#include "api/wire/schema.h"

namespace mangrove::api {

static constexpr Schema kController{
    unlessUnset<&ControllerReference::apiVersion>("apiVersion"),
    unlessUnset<&ControllerReference::kind>("kind"),
    unlessUnset<&ControllerReference::name>("name"),
    unlessUnset<&ControllerReference::uid>("uid"),
    unlessUnset<&ControllerReference::controller>("controller"),
    unlessUnset<&ControllerReference::blockOwnerDeletion>("blockOwnerDeletion"),
    unlessUnset<&ControllerReference::ns>("namespace"),
};
bool read(const In& in, ControllerReference& out) {
  return kController.read(in, out);
}
json::Value toJson(const ControllerReference& value) {
  return kController.write(value);
}

static constexpr Schema kOwner{
    unlessUnset<&ReservationOwner::object>("object"),
    unlessUnset<&ReservationOwner::controller>("controller"),
    unlessUnset<&ReservationOwner::labelSelector>("labelSelector"),
};
bool read(const In& in, ReservationOwner& out) {
  return kOwner.read(in, out);
}
json::Value toJson(const ReservationOwner& value) {
  return kOwner.write(value);
}

static constexpr Schema kPreAllocation{
    unlessUnset<&PreAllocationPolicy::mode>("mode"),
    unlessUnset<&PreAllocationPolicy::enableMultiple>("enableMultiple"),
};
bool read(const In& in, PreAllocationPolicy& out) {
  return kPreAllocation.read(in, out);
}
json::Value toJson(const PreAllocationPolicy& value) {
  return kPreAllocation.write(value);
}

static constexpr Schema kSpec{
    always<&ReservationSpec::owners>("owners"),
    unlessUnset<&ReservationSpec::ttl>("ttl"),
    unlessUnset<&ReservationSpec::expires>("expires"),
    unlessUnset<&ReservationSpec::preAllocation>("preAllocation"),
    unlessUnset<&ReservationSpec::allocateOnce>("allocateOnce"),
    unlessUnset<&ReservationSpec::allocatePolicy>("allocatePolicy"),
    unlessUnset<&ReservationSpec::unschedulable>("unschedulable"),
    unlessUnset<&ReservationSpec::taints>("taints"),
    unlessUnset<&ReservationSpec::preAllocationPolicy>("preAllocationPolicy"),
};
bool read(const In& in, ReservationSpec& out) {
  static constexpr Fields fields{field<&ReservationSpec::podTemplate>("template")};
  return fields.read(in, out) && kSpec.read(in, out);
}
json::Value toJson(const ReservationSpec& value, json::Value podTemplate) {
  json::Object out;
  out["template"] = std::move(podTemplate);
  kSpec.writeInto(out, value);
  return out;
}

static constexpr Schema kStatus{
    unlessUnset<&ReservationStatus::phase>("phase"),
    unlessUnset<&ReservationStatus::conditions>("conditions"),
    unlessUnset<&ReservationStatus::currentOwners>("currentOwners"),
    unlessUnset<&ReservationStatus::nodeName>("nodeName"),
    unlessUnset<&ReservationStatus::allocatable>("allocatable"),
    unlessUnset<&ReservationStatus::allocated>("allocated"),
};
bool read(const In& in, ReservationStatus& out) {
  return kStatus.read(in, out);
}
json::Value toJson(const ReservationStatus& value) {
  return kStatus.write(value);
}

bool read(const In& in, Reservation& out) {
  static constexpr Fields fields{
      field<&Reservation::meta>("metadata"),
      field<&Reservation::spec>("spec"),
      field<&Reservation::status>("status"),
  };
  return fields.read(in, out);
}

}  // namespace mangrove::api
