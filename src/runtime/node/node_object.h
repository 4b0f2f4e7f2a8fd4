#pragma once
// The Node object of this machine: what a kubelet would say of it. Pure but for readMachine.

#include <string>

#include "base/number/units.h"
#include "base/result.h"
#include "json/value.h"
#include "kernel/sys_root.h"
#include "runtime/core/cgroup_values.h"

namespace mangrove::runtime {

struct MachineFacts {
  std::string nodeName, hostname, address;
  MilliCpu cpu;
  Bytes memory, disk;
  int64_t maxPids = 32'768;
  int64_t pods = 250;
  bool observed = false;  // measured only: no pod may be placed here
  // What pods may have: the machine's, less what is kept for managing it.
  Bytes allocatableMemory() const { return memory - reservedMemory(memory); }
  std::string kernelVersion, osImage, machineId, bootId, architecture, version;
  std::string containerRuntime;  // "containerd://1.6.20"; "": ours
};
Result<MachineFacts> readMachine(const kernel::SysRoot& root, const std::string& dataDir,
                                 std::string nodeName, std::string version);

// For creating it, and the labels a kubelet keeps up: {"metadata": …, "spec": …}.
json::Object nodeObject(const MachineFacts& facts);
// The annotation of a node that is only measured, and the merge patch that closes or opens it.
inline constexpr std::string_view kObserved = "mangrove.io/observe-only";
json::Object observedPatch(bool observed);
// A merge patch of the status: capacity and allocatable (what others added stays), conditions,
// addresses, nodeInfo. `readySince` is when it became ready.
json::Object nodeStatus(const MachineFacts& facts, WallTime now, WallTime readySince);
json::Object leaseObject(const std::string& node, const std::string& nodeUid, WallTime now);

// The address of the first interface that is up and not the loopback; "127.0.0.1" without one.
std::string machineAddress();

}  // namespace mangrove::runtime
