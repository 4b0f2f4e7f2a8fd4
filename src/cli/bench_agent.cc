// mangrove bench agent: CPU, memory and system calls of the node agent, with real cgroups.
#include <filesystem>

#include <fmt/core.h>

#include "agent/bench/bench.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "frame/flags.h"

namespace mangrove::cli {

int benchAgent(const std::vector<std::string>& args) {
  agent::AgentBenchOptions options;
  Output output;
  frame::Flags flags("mangrove bench agent", "measures what the node agent costs (needs root)");
  flags.add("pods", options.pods, "how many pods, each with cgroups and processes of its own");
  flags.add("further-pods", options.further,
            "pods added after measuring, to say what one more costs in memory");
  flags.add("containers", options.containers, "containers per pod");
  flags.add("busy", options.busy,
            "services with a process that never rests; more than there are CPUs make them wait");
  flags.add("warmup", options.warmup, "time before measuring");
  flags.add("duration", options.measure,
            "how long to measure; from 10m on it says whether memory is flat");
  flags.add("seconds", options.measure, "the same by its former name");
  flags.add("period", options.period, "time between ticks");
  flags.add("max-open-files", options.maxOpenFiles,
            "the agent's limit of kernel files kept open; 0: its default");
  flags.add("agent-args", options.agentArgs, "further flags for the agent, comma-separated");
  flags.add("reference", options.reference, "another agent's binary, measured beside");
  flags.add("reference-args", options.referenceArgs, "its flags, comma-separated");
  output.declare(flags);
  if (const auto end = readArguments(flags, args)) return *end;
  std::error_code error;
  options.program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  auto result = agent::runAgentBench(options);
  if (!result) return complain(flags, result.error());
  output.show(agent::toJson(*result), agent::toTable(*result));
  return 0;
}

}  // namespace mangrove::cli
