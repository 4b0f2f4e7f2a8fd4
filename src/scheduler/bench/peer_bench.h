#pragma once
// `mangrove bench scheduler --mode peer`: any scheduler, as a process of its own, on any server.
// What it does is seen through a watch of pods.
//
//   auto result = runPeerBench(config, options, {"kube-scheduler --config c.yaml", "stock", log});
//   result->perSecond, result->shareOfRaw, result->cpuMicrosPerPod, result->peakMegabytes
//
// All pods wait before it starts; the rate and the processor time are those of the last nine tenths
// of them, and the time until the first pod and the processor time of everything are told apart.
// Then it gets more pods in slices, by turns with the server's raw rate (turns.h): the scheduler's
// process is stopped (SIGSTOP) while they are made and while raw is measured. Blocks.
//
// A scheduler that is not done when patience is over is judged by what it did until then, without
// turns: the result says how many pods that were.

#include "client/http/kubeconfig.h"
#include "scheduler/bench/bench.h"
#include "stats/experiment.h"

namespace mangrove::scheduler {

struct PeerPlan {
  std::string command;                // as a shell reads it
  std::string name = "peer";          // what the result is called
  std::string logFile = "/dev/null";  // of the command
  int64_t turns = 9;                  // with the raw rate; the first is not kept, 0: none
  Duration patience = std::chrono::minutes(10);  // for the pods that wait when it starts
};

struct PeerResult {
  std::string name, server;
  size_t nodes = 0, pods = 0;
  size_t bound = 0;             // fewer than pods: patience was over, and the figures are of those
  double firstSeconds = 0;      // from exec to the first binding
  double perSecond = 0;         // bindings
  double rawPerSecond = 0;      // bindings the server takes without a scheduler
  stats::Interval shareOfRaw;   // of slices by turns
  double cpuMicrosPerPod = 0;   // of the scheduler's process, while it binds
  double cpuMicrosSettled = 0;  // … and until it is quiet: events come after bindings
  double cpuMicrosWithStart = 0;  // … from exec to the last binding
  size_t peakMegabytes = 0;
};

Result<PeerResult> runPeerBench(const client::ClientConfig& config, const BenchOptions& options,
                                const PeerPlan& plan);
std::string peerTable(const std::vector<PeerResult>& results);
std::string peerJson(const std::vector<PeerResult>& results);

}  // namespace mangrove::scheduler
