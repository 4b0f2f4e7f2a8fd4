// mangrove bench react: how fast batch work is cut when a service waits.
#include <fmt/core.h>

#include "agent/bench/react.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "frame/flags.h"

namespace mangrove::cli {

int benchReact(const std::vector<std::string>& args) {
  agent::ReactOptions options;
  Output output;
  int64_t seed = 1;
  frame::Flags flags("mangrove bench react",
                     "times the cut of batch work after a service begins to wait (needs root)");
  flags.add("steps", options.steps,
            "steps of batch work, driven by pressure; 0: leave the row out");
  flags.add("poll-steps", options.pollSteps, "steps of the baseline that looks once a second");
  flags.add("floor-steps", options.floorSteps, "steps with batch work in the kernel's idle class");
  flags.add("throttled-steps", options.throttledSteps,
            "steps beside a service that its own quota throttles, and an idle one");
  flags.add("interval", options.interval, "between looks where the kernel does not wake us");
  flags.add("seed", seed, "of the random phases");
  output.declare(flags);
  if (const auto end = readArguments(flags, args)) return *end;
  options.seed = static_cast<uint64_t>(seed);
  auto result = agent::runReactBench(options);
  if (!result) return complain(flags, result.error());
  output.show(agent::toJson(*result), agent::toTable(*result));
  return 0;
}

}  // namespace mangrove::cli
