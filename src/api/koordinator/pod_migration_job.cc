#include "api/koordinator/pod_migration_job.h"

#include "api/wire/schema.h"

namespace mangrove::api {

using Options = MigrationReservationOptions;
static constexpr Schema kOptions{
    unlessUnset<&Options::reservationRef>("reservationRef"),
    unlessUnset<&Options::reservationTemplate>("template"),
    unlessUnset<&Options::preemptionOptions>("preemptionOptions"),
};
bool read(const In& in, MigrationReservationOptions& out) {
  return kOptions.read(in, out);
}
json::Value toJson(const MigrationReservationOptions& value) {
  return kOptions.write(value);
}

static constexpr Schema kSpec{
    unlessUnset<&PodMigrationJobSpec::paused>("paused"),
    unlessUnset<&PodMigrationJobSpec::ttl>("ttl"),
    unlessUnset<&PodMigrationJobSpec::mode>("mode"),
    always<&PodMigrationJobSpec::podRef>("podRef"),
    unlessUnset<&PodMigrationJobSpec::reservationOptions>("reservationOptions"),
    unlessUnset<&PodMigrationJobSpec::deleteOptions>("deleteOptions"),
};
bool read(const In& in, PodMigrationJobSpec& out) {
  return kSpec.read(in, out);
}
json::Value toJson(const PodMigrationJobSpec& value) {
  return kSpec.write(value);
}

static constexpr Schema kPreempted{
    unlessUnset<&PreemptedReservation::ns>("namespace"),
    unlessUnset<&PreemptedReservation::name>("name"),
    unlessUnset<&PreemptedReservation::nodeName>("nodeName"),
    unlessUnset<&PreemptedReservation::phase>("phase"),
    unlessUnset<&PreemptedReservation::preemptedPodRef>("preemptedPodRef"),
    unlessUnset<&PreemptedReservation::podsRef>("podsRef"),
};
bool read(const In& in, PreemptedReservation& out) {
  return kPreempted.read(in, out);
}
json::Value toJson(const PreemptedReservation& value) {
  return kPreempted.write(value);
}

using Status = PodMigrationJobStatus;
static constexpr Schema kStatus{
    unlessUnset<&Status::phase>("phase"),
    unlessUnset<&Status::status>("status"),
    unlessUnset<&Status::reason>("reason"),
    unlessUnset<&Status::message>("message"),
    unlessUnset<&Status::conditions>("conditions"),
    unlessUnset<&Status::nodeName>("nodeName"),
    unlessUnset<&Status::podRef>("podRef"),
    unlessUnset<&Status::preemptedPodsRef>("preemptedPodsRef"),
    unlessUnset<&Status::preemptedPodsReservation>("preemptedPodsReservation"),
};
bool read(const In& in, PodMigrationJobStatus& out) {
  return kStatus.read(in, out);
}
json::Value toJson(const PodMigrationJobStatus& value) {
  return kStatus.write(value);
}

bool read(const In& in, PodMigrationJob& out) {
  static constexpr Fields fields{
      field<&PodMigrationJob::meta>("metadata"),
      field<&PodMigrationJob::spec>("spec"),
      field<&PodMigrationJob::status>("status"),
  };
  return fields.read(in, out);
}

}  // namespace mangrove::api
