// mangrove explain group NAME: what a gang needs, what fits, and what would help.
#include "scheduler/explain/explain_group.h"

#include <fmt/core.h>

#include "base/clock.h"
#include "base/text/strings.h"
#include "cli/cluster_access.h"
#include "cli/command.h"
#include "cli/scheduler_config.h"
#include "cli/usage.h"
#include "cli/voice.h"
#include "frame/flags.h"
#include "net/loop.h"

namespace mangrove::cli {

namespace {

struct Wanted {
  ClusterAccess access;
  Output output;
  std::string config, ns = "default";
  std::vector<std::string> names;
};

Result<Told> explain(const Wanted& wanted) {
  if (wanted.names.size() != 1) return invalid("want the name of one gang");
  const std::string& name = wanted.names[0];
  const bool isWhole = name.find('/') != std::string::npos;
  net::Loop loop;
  auto client = wanted.access.open(loop);
  if (!client) return pass(client.error());
  auto config = schedulerConfigOf(wanted.config, **client);
  if (!config) return pass(config.error());
  const auto found = scheduler::explainGroup(**client, *config,
                                             isWhole ? name : wanted.ns + "/" + name, realClock());
  if (!found) return pass(found.error());
  Told told;
  told.answer = placement::sentenceOf(*found);
  told.good = found->isSatisfied || found->fits;
  told.terms = scheduler::toText(*found);
  told.data = scheduler::toJson(*found);
  return told;
}

}  // namespace

int explainGroup(const std::vector<std::string>& args) {
  Wanted wanted;
  frame::Flags flags("mangrove explain group", "what a gang needs, what fits and what would help");
  wanted.access.declare(flags);
  flags.add("config", wanted.config, "KubeSchedulerConfiguration to judge by");
  flags.add("n", wanted.ns, "namespace of the gang");
  wanted.output.declare(flags);
  flags.positionals("gang", wanted.names, "name of the gang or PodGroup, or namespace/name");
  if (const auto end = readArguments(flags, args)) return *end;
  const auto told = explain(wanted);
  return told ? say(*told, wanted.output) : complain(flags, told.error());
}

}  // namespace mangrove::cli
