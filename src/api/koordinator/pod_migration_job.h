#pragma once
// PodMigrationJob (scheduling.koordinator.sh): move one pod elsewhere, usually into a reservation
// made first. Cluster-scoped; users and the descheduler write both halves.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/koordinator/probed_condition.h"
#include "api/object/meta.h"
#include "json/fwd.h"

namespace mangrove::api {

namespace migration_mode {
inline constexpr std::string_view kReservationFirst = "ReservationFirst";  // also when unset
inline constexpr std::string_view kEvictDirectly = "EvictDirectly";
}  // namespace migration_mode

struct MigrationReservationOptions {
  std::optional<ObjectRef> reservationRef;
  std::optional<RawJson> reservationTemplate;  // metadata and spec of a Reservation, handed on
  std::optional<RawJson> preemptionOptions;
  bool operator==(const MigrationReservationOptions&) const = default;
};
bool read(const In& in, MigrationReservationOptions& out);
json::Value toJson(const MigrationReservationOptions& value);

struct PodMigrationJobSpec {
  bool paused = false;
  std::optional<Duration> ttl;
  std::string mode;
  std::optional<ObjectRef> podRef;
  std::optional<MigrationReservationOptions> reservationOptions;
  std::optional<RawJson> deleteOptions;

  bool evictsDirectly() const { return mode == migration_mode::kEvictDirectly; }
  bool operator==(const PodMigrationJobSpec&) const = default;
};
bool read(const In& in, PodMigrationJobSpec& out);
json::Value toJson(const PodMigrationJobSpec& value);

struct PreemptedReservation {
  std::string ns;
  std::string name;
  std::string nodeName;
  std::string phase;
  std::optional<ObjectRef> preemptedPodRef;
  std::vector<ObjectRef> podsRef;
  bool operator==(const PreemptedReservation&) const = default;
};
bool read(const In& in, PreemptedReservation& out);
json::Value toJson(const PreemptedReservation& value);

struct PodMigrationJobStatus {
  std::string phase;  // Pending, Running, Succeeded, Failed, Aborted
  std::string status;
  std::string reason;
  std::string message;
  std::vector<ProbedCondition> conditions;
  std::string nodeName;
  std::optional<ObjectRef> podRef;  // the new pod
  std::vector<ObjectRef> preemptedPodsRef;
  std::vector<PreemptedReservation> preemptedPodsReservation;

  bool isFinished() const {
    return phase == "Succeeded" || phase == "Failed" || phase == "Aborted";
  }
  bool operator==(const PodMigrationJobStatus&) const = default;
};
bool read(const In& in, PodMigrationJobStatus& out);
json::Value toJson(const PodMigrationJobStatus& value);

struct PodMigrationJob {
  ObjectMeta meta;
  PodMigrationJobSpec spec;
  PodMigrationJobStatus status;
};
bool read(const In& in, PodMigrationJob& out);

}  // namespace mangrove::api
