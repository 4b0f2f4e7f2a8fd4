#include "cli/sim_options.h"

#include "base/os/files.h"

namespace mangrove::cli {

void SimOptions::declare(frame::Flags& flags) {
  flags.add("busy-node", busyNode,
            "of a slo-controller-config: percent of CPU from which on the scheduler leaves a node "
            "alone");
  flags.add("seeds", seeds, "how often, each time with another trace or other noise; 1, 2, …");
  flags.add("threads", threads, "for the steps of nodes");
  flags.add("write", write, "write the trace, of the first seed, there; sim ends then");
}

Result<> SimOptions::check() const {
  if (busyNode < 1 || busyNode > 100) return invalid("--busy-node {}: want 1 to 100", busyNode);
  if (seeds < 1 || seeds > 1000) return invalid("--seeds {}: want 1 to 1000", seeds);
  if (threads < 1 || threads > 256) return invalid("--threads {}: want 1 to 256", threads);
  return {};
}

Result<sim::Policy> SimOptions::policyIn(const std::string& file) const {
  auto text = readFile(file);
  if (!text) return pass(text.error());
  auto policy = sim::readPolicy(*text, file);
  if (policy) policy->busyNode = busyNode;
  return policy;
}

}  // namespace mangrove::cli
