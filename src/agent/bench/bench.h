#pragma once
// `mangrove bench agent`: what the agent costs. Real cgroups with real processes, a real API server
// with the pods' objects, the agent as a process of its own; figures are of that process.
//
//   Result<AgentBench> figures = runAgentBench({.program = "/usr/bin/mangrove", .pods = 100});
//
// Blocks for warm-up and measurement. Needs root. Forks: call it before threads exist.

#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace mangrove::agent {

struct AgentBenchOptions {
  std::string program;  // our own binary
  int64_t pods = 100;
  int64_t containers = 1;  // per pod
  Duration warmup = std::chrono::seconds(15);
  Duration measure = std::chrono::seconds(60);
  Duration period = std::chrono::seconds(1);
  std::vector<std::string> agentArgs;  // further flags of the agent
  // Another agent to measure in the same way; "": none.
  std::string reference;
  std::vector<std::string> referenceArgs;
};

struct ProcessFigures {
  double cpuPercent = 0;  // of one core
  Bytes rss, pss;
};

struct AgentBench {
  ProcessFigures agent;
  double syscallsPerTick = 0;                    // of the collectors
  double tickP50 = 0, tickP99 = 0, tickMax = 0;  // seconds
  double ticks = 0;                              // in the measured time
  int64_t pods = 0, containers = 0;
  double openFiles = 0, missedTicks = 0;
  Bytes rssBefore;  // after the warm-up, before measuring: what `agent.rss` grew from
  bool cgroupV2 = false;
  bool hasReference = false;
  ProcessFigures reference;
};

Result<AgentBench> runAgentBench(const AgentBenchOptions& options);
std::string toTable(const AgentBench& bench);
std::string toJson(const AgentBench& bench);

}  // namespace mangrove::agent
