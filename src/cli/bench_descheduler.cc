// mangrove bench descheduler: one pass over a large cluster, and what it keeps in memory.
#include <algorithm>

#include <fmt/format.h>

#include "base/os/log.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "descheduler/bench/pass_bench.h"
#include "json/value.h"

namespace mangrove::cli {
namespace {

using mangrove::descheduler::PassBenchOptions;
using mangrove::descheduler::PassBenchResult;

double middleOf(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string tableOf(const PassBenchOptions& o, const PassBenchResult& r) {
  return fmt::format(
      "descheduler on {} nodes with {} pods, {} % hot{}{}\n"
      "  caches filled   {:8.2f} s\n"
      "  a pass          {:8.3f} s, {:.3f} s of CPU (middle of {})\n"
      "  its moves       {:8}{}\n"
      "  memory          {:8.1f} MB\n",
      o.cluster.nodes, o.cluster.pods, o.cluster.hotPercent, o.proven ? ", proven moves" : "",
      o.minimal ? ", minimal plans" : "", r.fillSeconds, middleOf(r.passSeconds),
      middleOf(r.passCpuSeconds), r.passSeconds.size(), r.moves,
      r.needed > 0 ? fmt::format(", at least {} are needed ({:.2f} x)", r.needed,
                                 static_cast<double>(r.moves) / static_cast<double>(r.needed))
                   : std::string(),
      static_cast<double>(r.rssBytes) / (1024.0 * 1024));
}

std::string jsonOf(const PassBenchOptions& o, const PassBenchResult& r) {
  return json::writePretty(json::Object{{"nodes", o.cluster.nodes},
                                        {"pods", o.cluster.pods},
                                        {"hotPercent", o.cluster.hotPercent},
                                        {"fillSeconds", r.fillSeconds},
                                        {"passSeconds", middleOf(r.passSeconds)},
                                        {"passCpuSeconds", middleOf(r.passCpuSeconds)},
                                        {"moves", r.moves},
                                        {"needed", r.needed},
                                        {"rssBytes", r.rssBytes}});
}

}  // namespace

int benchDescheduler(const std::vector<std::string>& args) {
  PassBenchOptions options;
  Output output;
  frame::Flags flags("mangrove bench descheduler",
                     "one pass of the descheduler over a large cluster that stands still");
  flags.add("nodes", options.cluster.nodes, "nodes of the cluster");
  flags.add("pods", options.cluster.pods, "pods on them, evenly");
  flags.add("hot", options.cluster.hotPercent, "percent of the nodes that are hot");
  flags.add("passes", options.passes, "how often; the middle one is shown");
  flags.add("proven", options.proven, "moves are proven by the scheduler's rules");
  flags.add("minimal", options.minimal, "by minimal plans");
  output.declare(flags);
  if (const auto end = readArguments(flags, args)) return *end;
  LogConfig quiet;
  quiet.level = LogLevel::kWarn;  // thousands of moves are planned
  configureLog(quiet);
  if (options.cluster.nodes < 2 || options.cluster.pods < 1 || options.passes < 1)
    return complain(flags, invalid("want at least 2 nodes, 1 pod and 1 pass").value(), kWrongUsage);
  const auto result = mangrove::descheduler::runPassBench(options);
  if (!result) return complain(flags, result.error());
  output.show(jsonOf(options, *result), tableOf(options, *result));
  return 0;
}

}  // namespace mangrove::cli
