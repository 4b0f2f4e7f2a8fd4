// mangrove bench shapes: whole boxes kept for the jobs that need them, beside the reference's score.
#include "cli/command.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "frame/flags.h"
#include "scheduler/bench/shapes_bench.h"

namespace mangrove::cli {

int benchShapes(const std::vector<std::string>& args) {
  scheduler::ShapesOptions options;
  Output output;
  frame::Flags flags("mangrove bench shapes",
                     "places jobs in a mix like a public GPU trace's with and without keepShapes");
  flags.add("nodes", options.nodes, "boxes of eight cards");
  flags.add("arrivals", options.arrivals, "jobs in a run; the first fifth is not counted");
  flags.add("seeds", options.seeds, "pairs of runs, with the seeds 1, 2, …");
  flags.add("load-percent", options.loadPercent, "of all cards, if every job ran at once");
  output.declare(flags);
  if (const auto end = readArguments(flags, args)) return *end;
  const auto result = scheduler::runShapesBench(options);
  if (!result) return complain(flags, result.error());
  output.show(scheduler::shapesJson(*result), scheduler::shapesTable(*result));
  return 0;
}

}  // namespace mangrove::cli
