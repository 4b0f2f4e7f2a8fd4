// mangrove bench interference: whether the agent accuses the right pod.
#include <fmt/core.h>

#include "agent/bench/interference.h"
#include "agent/bench/interference_sim.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "frame/flags.h"

namespace mangrove::cli {

int benchInterference(const std::vector<std::string>& args) {
  agent::InterferenceOptions options;
  Output output;
  int64_t seed = 1, simulated = 400, days = 20;
  frame::Flags flags("mangrove bench interference",
                     "services, work that hurts them and decoys: whom the agent accuses (needs "
                     "root; about six minutes a case)");
  flags.add("cases", options.cases, "each with one pod that may hurt and one decoy");
  flags.add("first", options.first, "case to begin with: a long series can be run in parts");
  flags.add("runs", options.truthPairs, "alternating ones with and without each pod, beforehand");
  flags.add("length", options.length, "of one of those");
  flags.add("patience", options.patience, "until everybody is tried");
  flags.add("act", options.act, "let the agent act on what it proved, and measure what that gives");
  flags.add("dir", options.dir, "for files of the work; empty: the system's for temporary ones");
  flags.add("victim", options.victim,
            "only this: memory-bound, fsyncing, page-cache, cpu-bound; empty: by turns");
  flags.add(
      "work", options.work,
      "only beside this: memory stream, cache, disk writes, page flood, CPU; empty: by turns");
  flags.add("simulated", simulated, "cases on simulated signals besides");
  flags.add("quiet-days", days, "simulated, on which nobody hurts anybody: who is accused");
  flags.add("seed", seed, "of the lots");
  output.declare(flags);
  if (const auto end = readArguments(flags, args)) return *end;
  options.seed = static_cast<uint64_t>(seed);
  auto result = agent::runInterferenceBench(options);
  if (!result) return complain(flags, result.error());
  const auto cases = agent::simulateCases(simulated, options.seed);
  const auto quiet = agent::simulateQuietDays(days, options.seed);
  std::string table = result->cases.empty() ? "" : agent::toTable(*result);
  if (simulated > 0) table += agent::toTable(cases);
  if (days > 0) table += agent::toTable(quiet);
  output.show(agent::toJson(*result, cases, quiet), table);
  return 0;
}

}  // namespace mangrove::cli
