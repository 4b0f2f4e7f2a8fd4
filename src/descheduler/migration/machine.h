#pragma once
// The life of a PodMigrationJob as a function: what is seen → the status to write and what to do.
//
//   Step step = nextStep(sight, defaults);
//   if (step.status) write(*step.status);
//   switch (step.act) { case Act::kEvict: … evicted: write(evictionSent(status, now)); }
//
// The way of a job that reserves first, with the condition that shows where it is:
//   Pending → Running → ReservationCreated → ReservationScheduled → Eviction(Unknown: about to be
//   sent) → Eviction(False: sent) → Eviction(True: gone) → PodBoundReservation(False) →
//   ReservationBound → BoundPodReady → PodBoundReservation(True), Succeeded.
// One that evicts directly: Running → Eviction(Unknown, False, True), Succeeded.
// With savesFirst a pod that can save is asked to before that intent, and the job waits: it goes when it
// has saved, and stays when it has not in time, because a move is no need; of those who move together
// it goes all the same, because half of them have left.
// The intent is written before the request, because whoever dies between the server's answer and
// the note of it leaves a pod that is gone and a job that would not know by whom.
//
// It is safe to ask twice about the same sight, and after a restart: everything is in the objects.
// With ReservationFirst nobody is evicted unless the reservation is Available, on another node, and
// nobody else's. Pure functions, any thread.

#include <optional>
#include <string>
#include <string_view>

#include "api/koordinator/pod_migration_job.h"
#include "api/koordinator/reservation.h"
#include "api/object/condition.h"
#include "api/pod/pod.h"
#include "descheduler/migration/company.h"

namespace mangrove::descheduler {

namespace phase {
inline constexpr std::string_view kPending = "Pending";
inline constexpr std::string_view kRunning = "Running";
inline constexpr std::string_view kSucceeded = "Succeeded";
inline constexpr std::string_view kFailed = "Failed";
inline constexpr std::string_view kAborted = "Aborted";
}  // namespace phase

namespace condition {
inline constexpr std::string_view kReservationCreated = "ReservationCreated";
inline constexpr std::string_view kReservationScheduled = "ReservationScheduled";
inline constexpr std::string_view kEviction = "Eviction";
inline constexpr std::string_view kPodScheduled = "PodScheduled";
inline constexpr std::string_view kPodBoundReservation = "PodBoundReservation";
inline constexpr std::string_view kReservationBound = "ReservationBound";
inline constexpr std::string_view kBoundPodReady = "BoundPodReady";
}  // namespace condition

namespace reason {
inline constexpr std::string_view kTimeout = "Timeout";
inline constexpr std::string_view kFailedCreateReservation = "FailedCreateReservation";
inline constexpr std::string_view kReservationExpired = "ReservationExpired";
inline constexpr std::string_view kUnschedulable = "Unschedulable";
inline constexpr std::string_view kForbidden = "ForbiddenMigratePod";
inline constexpr std::string_view kMissingPod = "MissingPod";
inline constexpr std::string_view kMissingReservation = "MissingReservation";
inline constexpr std::string_view kEvicting = "Evicting";
inline constexpr std::string_view kEvictComplete = "EvictComplete";
inline constexpr std::string_view kWaitForBind = "WaitForPodBindReservation";
inline constexpr std::string_view kWaitForReady = "WaitForBoundPodReady";
inline constexpr std::string_view kInvalidPodRef = "InvalidPodRef";
inline constexpr std::string_view kCompanionFailed = "CompanionFailed";
inline constexpr std::string_view kNotSaved = "NotSaved";
}  // namespace reason

struct MigrationSight {
  const api::PodMigrationJob& job;
  bool arbitrated = false;
  const api::Pod* pod = nullptr;                  // of the job's name now; nullptr: none
  const api::Reservation* reservation = nullptr;  // that the job refers to; nullptr: none
  const api::Pod* boundPod = nullptr;             // that took the reservation; nullptr: none
  WallTime now{};
  bool limited = false;              // the workload or namespace has had its evictions for now
  Company company = Company::kNone;  // those it moves together with
  bool savesFirst = false;           // who can save is asked to before it is evicted
};

struct MachineDefaults {
  std::string mode = "ReservationFirst";  // of jobs that name none
};

struct Step {
  enum class Act {
    kNothing,            // what comes next is an event of somebody else
    kCreateReservation,  // then write its name into spec.reservationOptions.reservationRef
    kEvict,              // then write evictionSent(); a refusal is tried again with growing delay
    kDeleteReservation,  // of a job that ended without a move
    kAskToSave,          // write the dated request on the pod (api/annotations/checkpoint.h)
  } act = Act::kNothing;
  std::optional<api::PodMigrationJobStatus> status;  // what changed; nullopt: nothing
  std::string podUid;  // to be written into spec.podRef.uid; "": nothing
  std::optional<WallTime>
      lookAt;         // the time at which it fails by itself, or its pod's time to save
  std::string event;  // warning on the job, with the reason; "": none
};

Step nextStep(const MigrationSight& sight, const MachineDefaults& defaults);

// After the server took the eviction, and after it did not take the reservation.
api::PodMigrationJobStatus evictionSent(api::PodMigrationJobStatus status, WallTime now,
                                        std::string_view message);
api::PodMigrationJobStatus creationFailed(api::PodMigrationJobStatus status, WallTime now,
                                          std::string_view message);
api::PodMigrationJobStatus failedBy(api::PodMigrationJobStatus status, std::string_view reason,
                                    std::string_view message);

// A change of a condition's status is a transition, and shows in status.status, reason and message.
void setCondition(api::PodMigrationJobStatus& status, std::string_view type, api::Truth truth,
                  std::string_view reason, std::string_view message, WallTime now);
const api::ProbedCondition* conditionOf(const std::vector<api::ProbedCondition>& conditions,
                                        std::string_view type);

bool isFinished(std::string_view phase);
bool reservesFirst(const api::PodMigrationJob& job, const MachineDefaults& defaults);

// Jobs that nobody needs any more: older than their ttl and five minutes, or half an hour without
// one; whatever their phase.
bool isScavenged(const api::PodMigrationJob& job, WallTime now);

// Label of the pod, then of the job, then the default; a word that is none of the three is the
// default.
std::string_view evictionPolicyOf(const api::Pod& pod, const api::PodMigrationJob& job,
                                  std::string_view fallback);

}  // namespace mangrove::descheduler
