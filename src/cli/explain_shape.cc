// mangrove explain shape --gpus 8: how many such pods fit into the cluster now, where, and which few
// moves would make room for one more.
#include "cli/cluster_access.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/scheduler_config.h"
#include "cli/usage.h"
#include "net/loop.h"
#include "scheduler/explain/shape.h"

namespace mangrove::cli {

int explainShape(const std::vector<std::string>& args) {
  ClusterAccess access;
  Output output;
  std::string config;
  scheduler::ShapeRequest request;
  frame::Flags flags("mangrove explain shape", "how many pods of a shape fit now, and where");
  access.declare(flags);
  flags.add("config", config, "KubeSchedulerConfiguration to judge by");
  flags.add("gpus", request.gpus, "cards of a pod");
  flags.add("percent", request.percent, "of each card");
  flags.add("topology", request.topology,
            "how close they must be: node, numa, pcie, or nvlink (a partition of the box)");
  flags.add("rdma", request.rdma, "NICs beside them");
  flags.add("cpu", request.cpu, "CPUs of a pod");
  flags.add("memory", request.memory, "memory of a pod");
  flags.add("scheduler-name", request.schedulerName, "whose profile judges");
  flags.add("most", request.most, "stop counting there");
  output.declare(flags);
  if (const auto end = readArguments(flags, args)) return *end;
  net::Loop loop(1);
  auto client = access.open(loop);
  if (!client) return complain(flags, client.error());
  auto judge = schedulerConfigOf(config, **client);
  if (!judge) return complain(flags, judge.error());
  const auto answer = scheduler::explainShape(**client, *judge, request, realClock());
  if (!answer) return complain(flags, answer.error());
  output.show(scheduler::toJsonText(*answer), scheduler::toText(request, *answer));
  return 0;
}

}  // namespace mangrove::cli
