#pragma once
// Device nodes that a container with RDMA devices needs: the connection manager's, and the verbs of
// each function it was given.
//
//   RdmaNodes nodes = rdmaNodes(machine.root(), machine.mounts());
//   rdmaDevices(nodes, pod.annotations)    // empty: it was given none, or this machine has none
//
// Any thread.

#include <map>
#include <string>
#include <vector>

#include "agent/nri/messages.h"
#include "kernel/hierarchies.h"
#include "kernel/sys_root.h"

namespace mangrove::agent {

struct RdmaNodes {
  std::optional<NriDevice> manager;                     // /dev/infiniband/rdma_cm
  std::map<std::string, std::vector<NriDevice>> verbs;  // by PCI address
};
RdmaNodes rdmaNodes(const kernel::SysRoot& root, const kernel::Mounts& mounts);

// By the scheduler's decision: virtual functions where the allocation has some, else the device.
std::vector<NriDevice> rdmaDevices(const RdmaNodes& nodes, const api::Annotations& pod);

}  // namespace mangrove::agent
