#pragma once
// What `mangrove explain migration` tells of a PodMigrationJob: how far it is, what it waits for,
// and how it came to be. Pure.

#include "api/koordinator/pod_migration_job.h"
#include "api/koordinator/reservation.h"
#include "api/pod/pod.h"
#include "cli/voice.h"

namespace mangrove::cli {

struct MigrationScene {
  const api::PodMigrationJob& job;
  const api::Pod* pod = nullptr;                  // of its podRef; nullptr: there is none
  const api::Reservation* reservation = nullptr;  // nullptr: there is none
  WallTime now{};
};

Told tellMigration(const MigrationScene& scene);

}  // namespace mangrove::cli
