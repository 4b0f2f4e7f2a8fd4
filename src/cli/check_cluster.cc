// mangrove check cluster: whether colocation works on a whole cluster, and what is in its way.

#include "api/wire/names.h"
#include "base/clock.h"
#include "cli/cluster_access.h"
#include "cli/cluster_facts.h"
#include "cli/command.h"
#include "cli/usage.h"

namespace mangrove::cli {

int checkCluster(const std::vector<std::string>& args) {
  ClusterAccess access;
  Output output;
  ClusterQuestion question{std::string(api::object::kSystemNamespace),
                           std::string(api::object::kSloConfig)};
  frame::Flags flags("mangrove check cluster",
                     "says whether colocation works on a cluster, and what is in its way");
  access.declare(flags);
  flags.add("config-namespace", question.configNamespace, "namespace of the configuration");
  flags.add("slo-config-name", question.configName, "name of the ConfigMap with the strategies");
  output.declare(flags);
  if (const auto end = readArguments(flags, args)) return *end;
  net::Loop loop(1);
  auto client = access.open(loop);
  if (!client) return complain(flags, client.error());
  auto facts = gatherFacts(**client, question, realClock().wall());
  if (!facts) return complain(flags, facts.error());
  return say(judgeCluster(*facts), output);
}

}  // namespace mangrove::cli
