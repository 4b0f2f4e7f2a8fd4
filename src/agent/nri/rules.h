#pragma once
// What a container gets when it starts: the rules that reconcile keeps at every tick, asked with
// what a runtime knows of a pod. Pure; a HookRules is made by the owner and read by any thread.
//
//   HookRules rules = hookRules(situation);
//   NriAdjustment a = adjustmentFor(rules, pod, container);

#include <map>
#include <optional>
#include <set>

#include "agent/hooks/batch_resource.h"
#include "agent/hooks/cpuset.h"
#include "agent/nri/gpu.h"
#include "agent/nri/messages.h"
#include "agent/nri/rdma_nodes.h"
#include "agent/qos/strategy.h"

namespace mangrove::agent {

struct HookRules {
  bool enabled = false;              // enforcement is on
  std::optional<CpusetRule> cpuset;  // gate CPUSetAllocator, and the topology is known
  bool freesQuota = true;            // gate UnsetCPUQuota
  std::optional<BatchRule> batch;    // gate BatchResource, and a NodeSLO is there
  std::optional<double> ratio;       // gate CPUNormalization; above 1
  // With it: what containers of known pods were given by their spec, "uid/name" to microseconds. The
  // runtime tells what they have, which may be divided already.
  std::map<std::string, int64_t, std::less<>> specQuotas = {};
  MachineCpus cpus;               // all, and those that pods have to themselves
  bool deviceEnv = false;         // gate GPUEnvInject
  HamiCore hami;                  // of deviceEnv; gate HamiCoreVGPUMonitor
  std::optional<RdmaNodes> rdma;  // gate RDMADeviceInject
  // Gate Resctrl: groups of pods that are there. A runtime refuses a container whose class is not.
  std::set<std::string, std::less<>> resctrlGroups = {};
};
HookRules hookRules(const Situation& now, std::string hamiLibrary = HamiCore().library);

NriAdjustment adjustmentFor(const HookRules& rules, const NriPod& pod,
                            const NriContainer& container);

}  // namespace mangrove::agent
