// mangrove bench api: what an API server can do, ours or any other.
#include "client/bench/api/bench_api.h"

#include <cstdlib>

#include <fmt/core.h>

#include "base/text/strings.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "frame/flags.h"

namespace mangrove::cli {

namespace {

Result<std::vector<int64_t>> pidsOf(const std::vector<std::string>& texts) {
  std::vector<int64_t> pids;
  for (const std::string& text : texts) {
    auto pid = parseInt<int64_t>(text);
    if (!pid || *pid < 1) return invalid("--server-pid '{}': want the number of a process", text);
    pids.push_back(*pid);
  }
  return pids;
}

Result<bool> readFlags(const std::vector<std::string>& args, client::ApiBenchOptions& options,
                       Output& output) {
  std::vector<std::string> pids;
  if (const char* dir = std::getenv("TMPDIR")) options.dir = dir;
  frame::Flags flags("mangrove bench api", "measures an API server through the ordinary client");
  flags.add("kubeconfig", options.kubeconfig, "measure this server instead of one of our own");
  flags.add("context", options.context, "context of the kubeconfig");
  flags.add("server-pid", pids, "processes whose CPU and memory count, when it is on this machine");
  flags.add("program", options.program, "binary that is started as the server; default: this one");
  flags.add("dir", options.dir, "where our own server keeps its data while it is measured");
  flags.add("nodes", options.nodes, "nodes made before the pods");
  flags.add("pods", options.pods, "pods made by all runs together");
  flags.add("runs", options.runs, "how often each phase is repeated");
  flags.add("in-flight", options.inFlight, "requests under way at any time");
  flags.add("watchers", options.watchers, "watchers of the fan-out; 0 leaves it out");
  flags.add("fan-out-writes", options.fanOutWrites, "writes of one run of the fan-out");
  flags.add("starts", options.starts, "how often the start of our own server is timed");
  output.declare(flags);
  auto go = flags.parse(args);
  if (!go || !*go) return go;
  auto numbers = pidsOf(pids);
  if (!numbers) return pass(numbers.error());
  options.serverPids = std::move(*numbers);
  return true;
}

}  // namespace

int benchApi(const std::vector<std::string>& args) {
  client::ApiBenchOptions options;
  Output output;
  auto go = readFlags(args, options, output);
  if (!go) return complain("mangrove bench api", go.error(), kWrongUsage);
  if (!*go) return 0;
  auto result = client::runApiBench(options);
  if (!result) return complain("mangrove bench api", result.error());
  output.show(client::toJson(*result), client::toTable(*result));
  return 0;
}

}  // namespace mangrove::cli
