// mangrove bench scheduler: the cases of the public kube-scheduler benchmark against our engine.
#include <fmt/core.h>

#include "cli/command.h"
#include "frame/flags.h"
#include "scheduler/bench/bench.h"

namespace mangrove::cli {

int benchScheduler(const std::vector<std::string>& args) {
  scheduler::BenchOptions options;
  std::string output = "table";
  frame::Flags flags("mangrove bench scheduler", "measures scheduling decisions");
  flags.add("nodes", options.nodes, "how many nodes the cluster has");
  flags.add("case", options.cases, "names of cases; all when not given");
  flags.add("pods", options.pods, "measured pods; 0: as the case says");
  flags.add("metrics", options.withMetrics, "give every node a NodeMetric");
  flags.add("o", output, "table or json");
  auto go = flags.parse(args);
  const bool known = output == "table" || output == "json";
  if (!go || !known) {
    fmt::print(stderr, "mangrove bench scheduler: {}\n",
               go ? "-o '" + output + "': want table or json" : go.error().text());
    return kWrongUsage;
  }
  if (!*go) return 0;
  auto results = scheduler::runCoreBench(options);
  if (!results) {
    fmt::print(stderr, "mangrove bench scheduler: {}\n", results.error().text());
    return kFailed;
  }
  fmt::print("{}", output == "json" ? benchJson(*results) : benchTable(*results));
  return 0;
}

}  // namespace mangrove::cli
