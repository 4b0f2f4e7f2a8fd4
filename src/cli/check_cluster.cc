// mangrove check cluster: whether colocation works on a whole cluster, and what is in its way.

#include <fmt/core.h>

#include "api/wire/names.h"
#include "base/clock.h"
#include "cli/cluster_access.h"
#include "cli/cluster_facts.h"
#include "cli/command.h"

namespace mangrove::cli {
namespace {

int complain(const Error& error, int code) {
  fmt::print(stderr, "mangrove check cluster: {}\n", error.text());
  return code;
}

}  // namespace

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
  auto go = flags.parse(args);
  if (!go) return complain(go.error(), kWrongUsage);
  if (!*go) return 0;
  net::Loop loop(1);
  auto client = access.open(loop);
  if (!client) return complain(client.error(), kFailed);
  auto facts = gatherFacts(**client, question, realClock().wall());
  if (!facts) return complain(facts.error(), kFailed);
  return say(judgeCluster(*facts), output);
}

}  // namespace mangrove::cli
