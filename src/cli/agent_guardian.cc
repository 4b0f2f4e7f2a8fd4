#include <cstdio>

#include <fmt/core.h>

#include "agent/guardian/guardian.h"
#include "cli/command.h"
#include "cli/usage.h"
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
  if (const auto end = readArguments(flags, args)) return *end;
  auto done = agent::runGuardian(options, realClock());
  return done ? 0 : complain(flags, done.error());
}

}  // namespace mangrove::cli
