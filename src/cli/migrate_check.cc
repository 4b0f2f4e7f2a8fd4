// mangrove migrate check: what would be the same, better, different or missing on a cluster that runs
// Koordinator. Reads only.
#include <fmt/core.h>

#include "api/wire/names.h"
#include "cli/cluster_access.h"
#include "cli/command.h"
#include "cli/migrate_facts.h"

namespace mangrove::cli {
namespace {

int complain(const Error& error, int code) {
  fmt::print(stderr, "mangrove migrate check: {}\n", error.text());
  return code;
}

}  // namespace

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
  auto go = flags.parse(args);
  if (!go) return complain(go.error(), kWrongUsage);
  if (!*go) return 0;
  net::Loop loop(1);
  auto client = access.open(loop);
  if (!client) return complain(client.error(), kFailed);
  auto facts = gatherMigration(**client, question);
  if (!facts) return complain(facts.error(), kFailed);
  return say(judgeMigration(*facts), output);
}

}  // namespace mangrove::cli
