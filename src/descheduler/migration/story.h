#pragma once
// A PodMigrationJob in words: who moves, from where to where, why, by what proof, how far it is.
// `mangrove explain migration` and the dashboard's page tell the same, because both ask here.
//
//   const MigrationStory story = storyOf(job, pod);
//   story.state        // "the pod was asked to leave and is still there"
//
// Pure functions, any thread.

#include <optional>
#include <string>

#include "api/koordinator/pod_migration_job.h"
#include "api/pod/pod.h"
#include "descheduler/migration/account.h"

namespace mangrove::descheduler {

struct MigrationStory {
  std::string name, pod;  // of the job; "namespace/name"
  std::string from;       // "?": nobody has noted it, and the pod is on no node
  std::string to;         // where it stands or was proven to land; "": not known
  std::string why;        // the reason, and the plugin that had it
  std::string proof;      // what was known of its end when it began
  std::string phase;      // Pending, Running, Succeeded, Failed, Aborted
  std::string state;      // what it waits for, or how it ended
  WallTime created = kZeroTime;
  WallTime ended = kZeroTime;  // kZeroTime: it has not, or nobody noted when
  std::optional<Account> account;
};

// `pod`: of the job's podRef; nullptr: there is none.
MigrationStory storyOf(const api::PodMigrationJob& job, const api::Pod* pod);

}  // namespace mangrove::descheduler
