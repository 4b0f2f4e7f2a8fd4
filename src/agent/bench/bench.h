#pragma once
// `mangrove bench agent`: what the agent costs. Real cgroups with real processes, a real API server
// with the pods' objects, the agent as a process of its own; figures are of that process.
//
//   Result<AgentBench> figures = runAgentBench({.program = "/usr/bin/mangrove", .pods = 100});
//
// Blocks for warm-up and measurement. Needs root. Forks: call it before threads exist.

#include <optional>
#include <string>
#include <vector>

#include "agent/bench/course.h"
#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::agent {

struct AgentBenchOptions {
  std::string program;  // our own binary
  int64_t pods = 100;
  int64_t further = 0;     // pods added after the measurement: what one more costs
  int64_t containers = 1;  // per pod
  int64_t busy = 0;  // services with a process that never rests: with more than CPUs they wait
  Duration warmup = std::chrono::seconds(15);
  Duration measure = std::chrono::seconds(60);
  Duration period = std::chrono::seconds(1);
  int64_t maxOpenFiles = 0;            // the agent's limit; 0: its default
  std::vector<std::string> agentArgs;  // further flags of the agent
  // Another agent to measure in the same way; "": none.
  std::string reference;
  std::vector<std::string> referenceArgs;
};

struct ProcessFigures {
  double cpuPercent = 0;  // of one core
  Bytes rss, pss;
};

// Kernel files the agent keeps open, against its limit.
struct FileFigures {
  double open = 0;          // as the agent counts them
  int64_t descriptors = 0;  // all of the process, as the kernel counts them
  int64_t most = 0;         // the most there were in the measured time
  int64_t limit = 0;
  double closed = 0;  // cold ones closed for hotter ones, since start
};

struct AgentBench {
  ProcessFigures agent;
  // Processes that the agent started and keeps (its guardian), together; absent when it has none.
  std::optional<ProcessFigures> children;
  double syscallsPerTick = 0;                    // of the collectors
  double tickP50 = 0, tickP99 = 0, tickMax = 0;  // seconds
  double ticks = 0;                              // in the measured time
  int64_t pods = 0, containers = 0;
  FileFigures files;
  double missedTicks = 0;
  MemoryCourse memory;
  int64_t furtherPods = 0;
  Bytes perFurtherPod;
  bool cgroupV2 = false;
  std::optional<ProcessFigures> reference;
};

Result<AgentBench> runAgentBench(const AgentBenchOptions& options);
std::string toTable(const AgentBench& bench);
std::string toJson(const AgentBench& bench);

}  // namespace mangrove::agent
