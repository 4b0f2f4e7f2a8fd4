// mangrove bench manager: a large cluster, a fresh manager, and what it costs.
#include <array>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/manager_bench.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "frame/flags.h"
#include "json/value.h"

namespace mangrove::cli {
namespace {

constexpr double kMegabyte = 1024.0 * 1024;

}  // namespace

std::string toTable(const ManagerBenchResult& r) {
  return fmt::format(
      "manager on {} nodes at {}\n"
      "  first node right        {:8.2f} s after start\n"
      "  all nodes right         {:8.2f} s   ({:.0f} nodes/s once under way)\n"
      "  everything written      {:8.2f} s\n"
      "  raw PATCH rate          {:8.0f} /s  (manager: {:.0f} %, of all rounds {:.0f}–{:.0f} %)\n"
      "  writes per node         {:8.2f}     ({} with a wrong amount)\n"
      "  CPU until all are right {:8.3f} ms per node; with NodeSLOs {:.3f}\n"
      "  CPU of one more report  {:8.3f} ms per node, {} writes\n"
      "  at rest                 {:8.2f} % of a core, {:.0f} writes/min\n"
      "  memory                  {:8.1f} MB RSS, {:.1f} MB PSS\n",
      r.nodes, r.server, r.firstRightSeconds, r.allRightSeconds, r.nodesPerSecond, r.settledSeconds,
      r.rawPatchesPerSecond, r.ofRawPercent, r.ofRawLeast, r.ofRawMost,
      static_cast<double>(r.nodeWrites) / static_cast<double>(std::max<int64_t>(1, r.nodes)),
      r.wrongValues, r.rightCpuMillisPerNode, r.fillCpuMillisPerNode, r.roundCpuMillisPerNode,
      r.roundWrites, r.restCpuPercent, r.restWritesPerMinute,
      static_cast<double>(r.rssBytes) / kMegabyte, static_cast<double>(r.pssBytes) / kMegabyte);
}

std::string toJson(const ManagerBenchResult& r) {
  return json::writePretty(json::Object{{"server", r.server},
                                        {"nodes", r.nodes},
                                        {"rawPatchesPerSecond", r.rawPatchesPerSecond},
                                        {"firstRightSeconds", r.firstRightSeconds},
                                        {"allRightSeconds", r.allRightSeconds},
                                        {"settledSeconds", r.settledSeconds},
                                        {"nodesPerSecond", r.nodesPerSecond},
                                        {"ofRawPercent", r.ofRawPercent},
                                        {"ofRawLeast", r.ofRawLeast},
                                        {"ofRawMost", r.ofRawMost},
                                        {"nodeWrites", r.nodeWrites},
                                        {"wrongValues", r.wrongValues},
                                        {"rightCpuMillisPerNode", r.rightCpuMillisPerNode},
                                        {"fillCpuMillisPerNode", r.fillCpuMillisPerNode},
                                        {"roundCpuMillisPerNode", r.roundCpuMillisPerNode},
                                        {"roundWrites", r.roundWrites},
                                        {"restCpuPercent", r.restCpuPercent},
                                        {"restWritesPerMinute", r.restWritesPerMinute},
                                        {"rssBytes", r.rssBytes},
                                        {"pssBytes", r.pssBytes}}) +
         "\n";
}

int benchManager(const std::vector<std::string>& args) {
  ManagerBenchOptions options;
  Output output;
  frame::Flags flags("mangrove bench manager", "a large cluster, a fresh manager, and its cost");
  flags.add("kubeconfig", options.kubeconfig, "use this (empty) server instead of one of our own");
  flags.add("context", options.context, "context of the kubeconfig");
  flags.add("dir", options.dir, "where our own server keeps its data while it is measured");
  flags.add("nodes", options.nodes, "nodes with a NodeMetric each");
  flags.add("pods-per-node", options.podsPerNode, "pods in each NodeMetric");
  flags.add("in-flight", options.inFlight, "requests under way in the raw measurement");
  flags.add("rest-seconds", options.restSeconds, "how long the quiet manager is watched");
  flags.add("rounds", options.rounds, "how often raw rate and a fresh manager take turns");
  output.declare(flags);
  if (const auto end = readArguments(flags, args)) return *end;
  const auto result = runManagerBench(options);
  if (!result) return complain(flags, result.error());
  output.show(toJson(*result), toTable(*result));
  return 0;
}

}  // namespace mangrove::cli
