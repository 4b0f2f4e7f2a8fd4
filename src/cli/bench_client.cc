// mangrove bench client: list, decode and watch many pods; ratios against the JSON parser alone in
// the same run.
#include <fmt/core.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "client/bench/bench.h"
#include "frame/flags.h"

namespace mangrove::cli {

int benchClient(const std::vector<std::string>& args) {
  client::ClientBenchOptions options;
  Output output;
  frame::Flags flags("mangrove bench client", "measures the Kubernetes client");
  flags.add("pods", options.pods, "how many pods the generated server has");
  flags.add("events", options.events, "how many watch events follow the list");
  flags.add("kubeconfig", options.kubeconfig, "measure the pods of this server instead");
  flags.add("context", options.context, "context of the kubeconfig");
  output.declare(flags);
  if (const auto end = readArguments(flags, args)) return *end;
  auto result = client::runClientBench(options);
  if (!result) return complain(flags, result.error());
  output.show(client::toJson(*result), client::toTable(*result));
  return 0;
}

}  // namespace mangrove::cli
