#pragma once
// Requests about PodMigrationJobs and what belongs to them. Pure functions, any thread.

#include <string>
#include <string_view>

#include "api/koordinator/pod_migration_job.h"
#include "api/pod/pod.h"
#include "client/api_client.h"
#include "json/value.h"

namespace mangrove::descheduler {

struct NewJob {
  std::string name;
  std::string reason, trigger, createdBy;
  std::string mode;
  Duration ttl{};
  std::string deleteOptions;  // JSON; "": none
  std::string target = {};    // where it was proven to land; "": not proven
  bool unplaceable = false;
  std::string together = {};  // the mark of jobs that move together; "": alone
  size_t togetherSize = 0;
  std::string plan = {};  // of the cycle that made it; "": of none
};
// On the pod that came by a migration: since when it stands there.
client::Request movedNote(std::string_view ns, std::string_view name, WallTime when);
client::Request createJobRequest(const NewJob& job, const api::Pod& pod);
// `body` is merged into the job, but only into the version that was looked at: what a user changed
// meanwhile is looked at first.
client::Request patchJob(const api::PodMigrationJob& job, json::Object body,
                         std::string_view subresource = "");
client::Request statusPatch(const api::PodMigrationJob& job,
                            const api::PodMigrationJobStatus& status);
client::Request deleteJob(std::string_view name);
client::Request deleteReservation(std::string_view name);
client::Request softEviction(const api::Pod& pod, WallTime now, std::string_view reason,
                             std::string_view deleteOptions);
api::DeleteOptions deleteOptionsOf(std::string_view json, const api::Pod& pod);
api::ObjectRef refOf(const api::PodMigrationJob& job);
std::string randomUuid(uint64_t high, uint64_t low);

}  // namespace mangrove::descheduler
