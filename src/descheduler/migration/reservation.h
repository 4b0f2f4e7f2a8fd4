#pragma once
// The Reservation that a job makes for its pod, so that the pod has a place before it leaves the old
// one.
//
//   json::Value body = reservationFor(job, podJson, clock.wall(), {});
//
// The template is the pod as it was written, without its node and away from it; parts of a template
// that the job brings are kept. Pure functions, any thread.

#include <string>
#include <string_view>

#include "api/koordinator/pod_migration_job.h"
#include "base/result.h"
#include "json/value.h"

namespace mangrove::descheduler {

struct ReservationOptions {
  bool dropClaims = false;  // gate DisablePVCReservation
};

// `pod` is the object as the server sent it.
Result<json::Value> reservationFor(const api::PodMigrationJob& job, const json::Value& pod,
                                   WallTime now, const ReservationOptions& options);
// What the template calls it, else the job's uid.
std::string reservationNameOf(const api::PodMigrationJob& job);

}  // namespace mangrove::descheduler
