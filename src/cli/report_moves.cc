// mangrove report moves: what the migrations that are still there brought, added up.
#include <fmt/format.h>

#include "cli/cluster_access.h"
#include "cli/moves_view.h"
#include "cli/usage.h"
#include "client/each_object.h"
#include "net/loop.h"

namespace mangrove::cli {

int reportMoves(const std::vector<std::string>& args) {
  ClusterAccess access;
  Output output;
  frame::Flags flags("mangrove report moves",
                     "whether migrations paid: both nodes before and after, job by job");
  access.declare(flags);
  output.declare(flags);
  if (const auto end = readArguments(flags, args)) return *end;
  net::Loop loop;
  const auto client = access.open(loop);
  if (!client) return complain(flags, client.error());
  std::vector<std::shared_ptr<api::PodMigrationJob>> jobs;
  const auto ok = client::eachObject<api::PodMigrationJob>(
      **client, client::kind::kPodMigrationJob,
      [&](std::shared_ptr<api::PodMigrationJob> job) { jobs.push_back(std::move(job)); });
  if (!ok) return complain(flags, ok.error());
  return say(tellMoves(jobs), output);
}

}  // namespace mangrove::cli
