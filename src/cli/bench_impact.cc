// mangrove bench impact: what batch work does to a service beside it.
#include <fmt/core.h>

#include "agent/bench/impact.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "frame/flags.h"

namespace mangrove::cli {

int benchImpact(const std::vector<std::string>& args) {
  agent::ImpactOptions options;
  Output output;
  int64_t seed = 1;
  frame::Flags flags("mangrove bench impact",
                     "latency of a service beside batch work placed in several ways (needs root)");
  flags.add("runs", options.runs, "of every row, interleaved in random order");
  flags.add("length", options.length, "of one run");
  flags.add("rate", options.rate, "requests a second, sent by the clock");
  flags.add("service", options.service, "auto, redis, nginx or built-in");
  flags.add("strangers", options.discard.mostStrangers,
            "cores others may use; runs with more are thrown away");
  flags.add("seed", seed, "of the random phases");
  output.declare(flags);
  if (const auto end = readArguments(flags, args)) return *end;
  options.seed = static_cast<uint64_t>(seed);
  auto result = agent::runImpactBench(options);
  if (!result) return complain(flags, result.error());
  output.show(agent::toJson(*result), agent::toTable(*result));
  return 0;
}

}  // namespace mangrove::cli
