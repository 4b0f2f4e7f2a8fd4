// mangrove bench webhook: admission under a steady load, with many profiles and odd questions.
#include <algorithm>

#include <fmt/core.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "frame/flags.h"
#include "manager/webhook/bench/bench.h"

namespace mangrove::cli {

int benchWebhook(const std::vector<std::string>& args) {
  manager::WebhookBenchOptions options;
  Output output;
  frame::Flags flags("mangrove bench webhook", "measures admission over HTTPS on the loopback");
  flags.add("profiles", options.profiles, "how many ClusterColocationProfiles the cluster has");
  flags.add("rate", options.rate, "pods a second");
  flags.add("seconds", options.seconds, "how long");
  output.declare(flags);
  if (const auto end = readArguments(flags, args)) return *end;
  auto result = manager::runWebhookBench(options);
  if (!result) return complain(flags, result.error());
  output.show(manager::toJson(*result), manager::toTable(*result));
  const bool clear = std::all_of(result->oddities.begin(), result->oddities.end(),
                                 [](const manager::BenchOddity& o) { return o.clear; });
  return clear && result->wrong == 0 ? 0 : kFailed;
}

}  // namespace mangrove::cli
