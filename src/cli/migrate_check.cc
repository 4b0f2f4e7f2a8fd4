// mangrove migrate check: what would be the same, better, different or missing on a cluster that runs
// Koordinator. Reads only.

#include "api/wire/names.h"
#include "cli/cluster_access.h"
#include "cli/command.h"
#include "cli/migrate_facts.h"
#include "cli/usage.h"

namespace mangrove::cli {

int migrateCheck(const std::vector<std::string>& args) {
  ClusterAccess access;
  Output output;
  MigrateQuestion question{std::string(api::object::kSystemNamespace),
                           std::string(api::object::kSloConfig)};
  frame::Flags flags("mangrove migrate check",
                     "says what would change if Mangrove took Koordinator's place; reads only");
  access.declare(flags);
  flags.add("config-namespace", question.configNamespace, "namespace of the configuration");
  flags.add("slo-config-name", question.configName, "name of the ConfigMap with the strategies");
  output.declare(flags);
  if (const auto end = readArguments(flags, args)) return *end;
  net::Loop loop(1);
  auto client = access.open(loop);
  if (!client) return complain(flags, client.error());
  auto facts = gatherMigration(**client, question);
  if (!facts) return complain(flags, facts.error());
  return say(judgeMigration(*facts), output);
}

}  // namespace mangrove::cli
