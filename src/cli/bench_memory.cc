// mangrove bench memory: how memory comes back from batch work.
#include <algorithm>

#include <fmt/core.h>

#include "agent/bench/memory.h"
#include "cli/command.h"
#include "cli/output.h"
#include "frame/flags.h"

namespace mangrove::cli {

int benchMemory(const std::vector<std::string>& args) {
  agent::MemoryBenchOptions options;
  Output output;
  frame::Flags flags("mangrove bench memory",
                     "a service grows beside batch work that holds the memory (needs root)");
  flags.add("limit", options.limitMiB, "of the pods' cgroup, MiB");
  flags.add("batch", options.batchPercent, "percent of it held by batch work");
  flags.add("service", options.servicePercent, "percent to which the service grows");
  flags.add("pace", options.growMiBPerSecond, "MiB per second at which it grows");
  flags.add("scratch", options.scratch, "folder of a real file system, for page cache");
  output.declare(flags);
  auto go = flags.parse(args);
  if (!go) {
    fmt::print(stderr, "mangrove bench memory: {}\n", go.error().text());
    return kWrongUsage;
  }
  if (!*go) return 0;
  auto result = agent::runMemoryBench(options);
  if (!result) {
    fmt::print(stderr, "mangrove bench memory: {}\n", result.error().text());
    return kFailed;
  }
  output.show(agent::toJson(*result), agent::toTable(*result));
  // With giving back, no service may have run out.
  const bool kept = std::all_of(result->rows.begin(), result->rows.end(),
                                [](const auto& row) { return !row.giveBack || row.reached; });
  return kept ? 0 : kFailed;
}

}  // namespace mangrove::cli
