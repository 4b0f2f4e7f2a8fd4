#include "placement/framework/preemption_args.h"

#include <algorithm>

#include <fmt/core.h>

#include "placement/framework/args.h"

namespace mangrove::placement {

Result<PreemptionArgs> readPreemptionArgs(const json::Value& value) {
  Args args(value, "DefaultPreemptionArgs");
  args.only({"minCandidateNodesPercentage", "minCandidateNodesAbsolute", "leastLoss"});
  PreemptionArgs out;
  out.minCandidatesPercentage =
      args.integer("minCandidateNodesPercentage", out.minCandidatesPercentage);
  out.minCandidatesAbsolute = args.integer("minCandidateNodesAbsolute", out.minCandidatesAbsolute);
  (void)args.boolean("leastLoss", false);  // ours, read by preemption.h's choosesByLoss
  if (out.minCandidatesPercentage < 0 || out.minCandidatesPercentage > 100)
    args.complain(fmt::format("minCandidateNodesPercentage: {} is not in 0..100",
                              out.minCandidatesPercentage));
  if (out.minCandidatesAbsolute < 0)
    args.complain(
        fmt::format("minCandidateNodesAbsolute: {} is below 0", out.minCandidatesAbsolute));
  if (out.minCandidatesPercentage == 0 && out.minCandidatesAbsolute == 0)
    args.complain(
        "minCandidateNodesPercentage and minCandidateNodesAbsolute are both 0: one must be above");
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return out;
}

size_t candidatesWanted(size_t nodes, const PreemptionArgs& args) {
  const size_t share = nodes * static_cast<size_t>(args.minCandidatesPercentage) / 100;
  return std::min(nodes, std::max(share, static_cast<size_t>(args.minCandidatesAbsolute)));
}

}  // namespace mangrove::placement
