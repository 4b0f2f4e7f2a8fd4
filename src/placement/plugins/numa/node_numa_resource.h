#pragma once
// NodeNUMAResource: whole CPUs for pods that bind them, NUMA nodes for pods that want to stay on
// few of them, and the books of both.

#include "placement/framework/plugin.h"
#include "placement/plugins/noderesources/scoring.h"
#include "placement/plugins/numa/numa_node.h"

namespace mangrove::placement {

struct NumaArgs {
  BindPolicy defaultBindPolicy = BindPolicy::kFullPcpus;
  ScoringStrategy scoring;
  NumaScorer numaScorer;           // sets of NUMA nodes against each other
  NumaScorer zoneScorer;           // the zones a pod would get, by the strategy of the node's score
  bool preferOrphans = false;      // ours: CpuWish::preferOrphans
  bool compatibleScoring = false;  // ours: scores as the reference has them, mistakes included
};
Result<NumaArgs> readNumaArgs(const json::Value& args, ResourceIds& ids);

// What a class of pods asks of CPUs and NUMA nodes.
struct NumaPlan final : PlanData {
  bool isCpuset = false;  // LSE or LSR, prod
  bool binds = false;     // by its own wish
  BindPolicy required = BindPolicy::kNone;
  BindPolicy preferred = BindPolicy::kNone;
  Exclusive exclusive = Exclusive::kNone;
  NumaPolicy policy = NumaPolicy::kNone;
  bool exclusiveRequired = false;  // singleNUMANodeExclusive
  int64_t cpu = 0;                 // milli
  NumaAmounts amounts;
  std::optional<NumaAllocation> designated;  // exactly this, or nothing (SchedulingHint)
  std::string trouble;                       // an annotation that cannot be read
};
NumaPlan compileNuma(const PodClass& cls, const NumaArgs& args, const ResourceIds& ids);

// How the pod would be served on one node; the first reason when it cannot.
struct NumaAnswer {
  Code code = Code::kFits;
  std::string reason;
  bool binds = false;
  CpuWish wish;
  NumaPolicy policy = NumaPolicy::kNone;
  static NumaAnswer refuse(Code code, std::string reason) {
    NumaAnswer out;
    out.code = code;
    out.reason = std::move(reason);
    return out;
  }
};
struct NodeCpu {  // of the whole node, milli
  int64_t allocatable = 0;
  int64_t requested = 0;
};
// `others`: what further providers say about the NUMA nodes (align.h).
using OtherHints = std::vector<HintMap>;
NumaAnswer judgeNuma(const NumaPlan& pod, const NumaNode& node, const NodeCpu& cpu,
                     const NumaArgs& args, const OtherHints& others = {});
// What the pod gets; reasons when nothing. BestEffort is decided here.
NumaOutcome allocateNuma(const NumaPlan& pod, const NumaAnswer& answer, const NumaNode& node,
                         const NumaArgs& args, const OtherHints& others = {});
// The policy that counts for the pod there.
inline NumaPolicy policyFor(const NumaPlan& pod, const NumaNode& node) {
  return node.policy() != NumaPolicy::kNone ? node.policy() : pod.policy;
}

Result<std::unique_ptr<Plugin>> makeNodeNumaResource(const json::Value& args, PluginHandle handle);

}  // namespace mangrove::placement
