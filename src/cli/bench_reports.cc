// mangrove bench reports: what the reports of many nodes cost an API server, in two rhythms.
#include <cstdlib>

#include "base/text/strings.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/report_bench.h"
#include "cli/usage.h"
#include "frame/flags.h"

namespace mangrove::cli {
namespace {

Result<> check(const ReportBenchOptions& options) {
  if (options.nodes < 1 || options.distinct < 1 || options.pods < 1 || options.writes < 1 ||
      options.inFlight < 1)
    return invalid(
        "bench reports: want --nodes, --distinct, --pods, --writes and --in-flight of 1 or more");
  if (options.length < std::chrono::minutes(10))
    return invalid("bench reports: --length is too short; want 10m or more");
  return {};
}

}  // namespace

int benchReports(const std::vector<std::string>& args) {
  ReportBenchOptions options;
  Output output;
  std::vector<std::string> pids;
  if (const char* dir = std::getenv("TMPDIR")) options.dir = dir;
  frame::Flags flags("mangrove bench reports",
                     "what reports of many nodes cost an API server, and what is sold by them");
  flags.add("nodes", options.nodes, "NodeMetrics on the server");
  flags.add("distinct", options.distinct, "nodes that are lived through, of each shape of load");
  flags.add("length", options.length, "of their lives, in made time");
  flags.add("pods", options.pods, "on a node");
  flags.add("rounds", options.rounds, "of each kind of report on the server; 0: no server");
  flags.add("writes", options.writes, "of one round");
  flags.add("watchers", options.watchers, "of NodeMetrics meanwhile, as managers and schedulers");
  flags.add("in-flight", options.inFlight, "requests under way at any time");
  flags.add("kubeconfig", options.kubeconfig, "measure this server instead of one of our own");
  flags.add("server-pid", pids, "processes whose CPU counts, when it is on this machine");
  flags.add("dir", options.dir, "where our own server keeps its data");
  flags.add("seed", options.seed, "of the nodes' lives");
  output.declare(flags);
  if (const auto end = readArguments(flags, args)) return *end;
  for (const std::string& text : pids) {
    const auto pid = parseInt<int64_t>(text);
    if (!pid || *pid < 1)
      return complain(
          flags, Error(Code::kInvalid, "--server-pid '" + text + "': want the number of a process"),
          kWrongUsage);
    options.serverPids.push_back(*pid);
  }
  if (auto ok = check(options); !ok) return complain(flags, ok.error(), kWrongUsage);
  auto result = runReportBench(options);
  if (!result) return complain(flags, result.error());
  output.show(toJson(*result), toTable(*result));
  return 0;
}

}  // namespace mangrove::cli
