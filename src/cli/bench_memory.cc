// mangrove bench memory: how memory comes back from batch work.
#include <algorithm>

#include <fmt/core.h>

#include "agent/bench/memory.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/usage.h"
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
  if (const auto end = readArguments(flags, args)) return *end;
  auto result = agent::runMemoryBench(options);
  if (!result) return complain(flags, result.error());
  output.show(agent::toJson(*result), agent::toTable(*result));
  // With giving back, no service may have run out.
  const bool kept = std::all_of(result->rows.begin(), result->rows.end(),
                                [](const auto& row) { return !row.giveBack || row.reached; });
  return kept ? 0 : kFailed;
}

}  // namespace mangrove::cli
