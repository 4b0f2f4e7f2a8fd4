#include "agent/gates.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "agent/qos/strategy_list.h"

namespace mangrove::agent {
namespace {

using enum Maturity;

constexpr GateInfo kGates[] = {
    {"AuditEvents", false, kAlpha, "keep a log of what the agent changed"},
    {"AuditEventsHTTPHandler", false, kAlpha, "serve that log on /events"},
    {"BECPUSuppress", true, kBeta, "keep best-effort CPU below the threshold"},
    {"PressureCut", true, kBeta, "cut best-effort CPU at once when services wait for theirs"},
    {"MemoryGiveBack", true, kBeta,
     "take memory back from best-effort pods before services miss it"},
    {"BECPUManager", false, kAlpha, "pin best-effort pods to their NUMA node's pool"},
    {"BECPUEvict", false, kAlpha, "evict best-effort pods that get too little CPU"},
    {"CPUEvict", false, kAlpha, "evict by CPU use of the node"},
    {"CPUAllocatableEvict", false, kAlpha, "evict by CPU requests over what is for sale"},
    {"BEMemoryEvict", false, kAlpha, "evict best-effort pods when memory runs short"},
    {"MemoryEvict", false, kAlpha, "evict by memory use of the node"},
    {"MemoryAllocatableEvict", false, kAlpha, "evict by memory requests over what is for sale"},
    {"WatermarkEvict", false, kAlpha, "evict by marks on memory, disk, inodes, load and pressure"},
    {"CheckpointPreemption", false, kAlpha,
     "ask pods to save before they are evicted, and carry such requests to them"},
    {"LeastLossEvict", false, kAlpha,
     "evict those whose leaving throws the least work away; off: Koordinator's order"},
    {"YarnNodeManager", false, kAlpha, "bound the pods of YARN's NodeManagers by their capacity"},
    {"CraneQoS", false, kAlpha, "watermarks of Crane's NodeQOS and what its actions do about them"},
    {"InterferenceGaussian", false, kAlpha,
     "find services whose counters leave what is ordinary for their load"},
    {"InterferenceCPI2", false, kAlpha, "find services with outliers of cycles per instruction"},
    {"InterferencePSI", false, kAlpha, "find services that stall for CPU, memory or disks"},
    {"CausalCheck", false, kAlpha,
     "try by short, paired throttles which offline pod makes a service suffer"},
    {"MitigationLadder", false, kAlpha,
     "take steps for services that suffer; against one pod only with proof (CausalCheck)"},
    {"IsolationCanary", false, kAlpha,
     "tries now and then whether idle class, quotas, disk weights and network classes do anything"},
    {"CPUBurst", true, kBeta, "let limited pods burst"},
    {gate::kSteadyBurst, true, kBeta,
     "bursts by NUMA node, by several throttled periods and slowly back; off: Koordinator's rule"},
    {"SystemConfig", false, kAlpha, "set kernel parameters"},
    {"RdtResctrl", true, kBeta, "cache and bandwidth shares by resctrl"},
    {gate::kResctrlCollector, false, kAlpha, "cache occupancy and memory bandwidth"},
    {"CgroupReconcile", false, kAlpha, "memory protection of pods"},
    {gate::kSeasonalPrediction, true, kBeta,
     "reclaim no more than the same hours of yesterday and last week left"},
    {gate::kNodeTopologyReport, true, kBeta, "write the NodeResourceTopology"},
    {"Accelerators", false, kAlpha, "report GPUs and other accelerators"},
    {"RDMADevices", false, kAlpha, "report RDMA devices"},
    {gate::kCpiCollector, false, kAlpha, "cycles and instructions per container"},
    {"Libpfm4", false, kAlpha, "accepted; counters are always read in one group"},
    {gate::kPsiCollector, false, kAlpha, "pressure per pod and container"},
    {"BlkIOReconcile", false, kAlpha, "block I/O limits"},
    {gate::kColdPageCollector, false, kAlpha, "idle page cache (kernels with kidled)"},
    {gate::kHugePageReport, false, kAlpha, "huge pages in the NodeResourceTopology"},
    {"PodResourcesProxy", false, kAlpha, "serve pod resources with devices of ours"},
    {"HamiCoreVGPUMonitor", false, kAlpha,
     "a folder per container for the monitor of HAMi-core (NRI)"},
    {"PerCPUMetric", false, kAlpha, "a series per CPU of the shared pools"},
    {gate::kNodeMetricSeries, false, kAlpha, "the reported usages as gauges"},
};

constexpr GateInfo kHooks[] = {
    {"GroupIdentity", true, kBeta, "services ahead of batch work by cpu.bvt_warp_ns"},
    {"CPUSetAllocator", true, kBeta, "CPUs by class and by the scheduler's decision"},
    {"UnsetCPUQuota", true, kBeta, "no CPU quota for pods with CPUs of their own"},
    {"BatchResource", true, kBeta, "limits of batch pods"},
    {"KernelFloor", true, kBeta, "best-effort pods in the kernel's idle class"},
    {"CPUNormalization", false, kAlpha, "quotas by the machine's speed"},
    {"CoreSched", false, kAlpha, "services and batch work never share a core (kernels with it)"},
    {"GPUEnvInject", false, kAlpha,
     "GPUs by the scheduler's decision, parts of one by HAMi-core (NRI)"},
    {"RDMADeviceInject", false, kAlpha, "device nodes of RDMA by the scheduler's decision (NRI)"},
    {"TCNetworkQoS", false, kAlpha, "network classes by tc"},
    {"TerwayQoS", false, kAlpha, "network classes by files for Terway"},
    {"Resctrl", false, kAlpha, "cache and bandwidth shares of pods by resctrl"},
    {"OOMScoreAdj", false, kAlpha, "OOM scores of containers"},
};

bool isKnown(std::string_view name) {
  const auto same = [&](const GateInfo& gate) { return gate.name == name; };
  return std::ranges::any_of(kGates, same) || std::ranges::any_of(kHooks, same);
}

// A strategy of the list brings its gate along.
std::vector<GateInfo> withStrategies() {
  static std::deque<std::string> texts;
  std::vector<GateInfo> all(std::begin(kGates), std::end(kGates));
  for (const auto& one : defaultStrategies()) {
    const StrategyInfo info = one->info();
    if (info.gate.empty() || isKnown(info.gate)) continue;
    texts.push_back("strategy " + std::string(info.name));
    all.push_back({info.gate, false, kAlpha, texts.back()});
  }
  return all;
}

}  // namespace

std::span<const GateInfo> hookGates() {
  return kHooks;
}

std::span<const GateInfo> agentGates() {
  static const std::vector<GateInfo> all = withStrategies();
  return all;
}

}  // namespace mangrove::agent
