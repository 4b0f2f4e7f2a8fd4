#pragma once
// A node: what it has, what it is, and who may come.
//
//   node.status.allocatable.cpu(), node.spec.taints, isTrue(node.status.conditions, "Ready")
//
// Values; informers hand out shared_ptr<const Node>, const access from any thread.

#include <cstdint>
#include <vector>

#include "api/object/condition.h"
#include "api/object/meta.h"
#include "api/pod/affinity.h"
#include "api/pod/resource_list.h"
#include "api/wire/decode.h"

namespace mangrove::api {

struct NodeSpec {
  bool unschedulable = false;
  Text providerId;
  Text podCidr;
  std::vector<Text> podCidrs;
  std::vector<Taint> taints;
};

struct NodeAddress {
  Interned type;  // InternalIP, ExternalIP, Hostname …
  Text address;
};

struct NodeImage {
  std::vector<Interned> names;
  Bytes size;
};

struct NodeInfo {
  Interned kernelVersion, osImage, containerRuntimeVersion, kubeletVersion;
  Interned operatingSystem, architecture;
  Text machineId, systemUuid, bootId;
};

struct AttachedVolume {
  Text name;
  Text devicePath;
};

struct NodeStatus {
  ResourceList capacity;
  ResourceList allocatable;
  std::vector<Condition> conditions;
  WallTime heartbeat = kZeroTime;  // the latest lastHeartbeatTime of all conditions
  std::vector<NodeAddress> addresses;
  std::vector<NodeImage> images;
  NodeInfo info;
  std::vector<Text> volumesInUse;
  std::vector<AttachedVolume> volumesAttached;
  std::vector<Interned> declaredFeatures;
  int32_t kubeletPort = 0;  // daemonEndpoints.kubeletEndpoint.Port
};

struct Node {
  ObjectMeta meta;
  NodeSpec spec;
  NodeStatus status;

  bool isReady() const { return isTrue(status.conditions, "Ready"); }
};
bool read(const In& in, Node& out);

// The zone a node counts for: region and zone label, current or former names, joined as Kubernetes
// does; "" without both.
std::string zoneOf(const Node& node);

}  // namespace mangrove::api
