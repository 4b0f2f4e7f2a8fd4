#include <cstdio>

#include <fmt/core.h>

#include "agent/guardian/guardian.h"
#include "cli/command.h"
#include "frame/flags.h"

namespace mangrove::cli {

int agentGuardian(const std::vector<std::string>& args) {
  agent::GuardianOptions options;
  frame::Flags flags("mangrove agent guardian",
                     "puts best-effort work on a safe limit when the agent dies or hangs");
  flags.add("heartbeat", options.heartbeat, "the agent's file (its --heartbeat)");
  flags.add("root", options.root, "directory under which the machine's cgroups are");
  flags.add("patience", options.patience, "silence after which the agent is taken to hang");
  flags.add("interval", options.interval, "between two looks");
  flags.add("pipe", options.pipe, "descriptor that closes with the agent; -1: none");
  auto go = flags.parse(args);
  if (!go) {
    fmt::print(stderr, "mangrove agent guardian: {}\n", go.error().text());
    return kWrongUsage;
  }
  if (!*go) return 0;
  auto done = agent::runGuardian(options, realClock());
  if (done) return 0;
  fmt::print(stderr, "mangrove agent guardian: {}\n", done.error().text());
  return kFailed;
}

}  // namespace mangrove::cli
