#pragma once
// Storage objects as far as placement depends on them: volumes and claims, their classes, and what
// drivers can do on which node.
//
// Values; informers hand out shared_ptr<const T>, const access from any thread.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/object/meta.h"
#include "api/pod/resource_list.h"
#include "api/select/label_selector.h"
#include "api/wire/decode.h"

namespace mangrove::api {

struct PersistentVolume {
  ObjectMeta meta;
  ResourceList capacity;
  std::vector<Interned> accessModes;
  Interned storageClassName;
  Interned volumeMode;  // "" is Filesystem
  Interned reclaimPolicy;
  std::optional<ObjectRef> claimRef;
  std::optional<NodeSelector> nodeAffinity;  // spec.nodeAffinity.required
  Interned csiDriver;                        // spec.csi
  Text csiHandle;
  Interned sourceKind;  // member of spec that names an in-tree source: "awsElasticBlockStore" …; ""
                        // otherwise
  Interned phase;       // status: Pending, Available, Bound, Released, Failed
};
bool read(const In& in, PersistentVolume& out);

struct PersistentVolumeClaim {
  ObjectMeta meta;
  std::vector<Interned> accessModes;
  std::optional<LabelSelector> selector;
  ResourceList requests;  // spec.resources.requests
  Text volumeName;        // "" until bound
  std::optional<Interned> storageClassName;
  Interned volumeMode;  // "" is Filesystem
  Interned phase;       // status: Pending, Bound, Lost

  bool isBound() const { return !volumeName.empty() && phase == "Bound"; }
};
bool read(const In& in, PersistentVolumeClaim& out);

struct StorageClass {
  ObjectMeta meta;
  Interned provisioner;
  bool waitsForConsumer = false;  // volumeBindingMode WaitForFirstConsumer
  // ORed; each a set of (key, values), ANDed. Empty: everywhere.
  std::vector<NodeSelectorTerm> allowedTopologies;
  std::map<std::string, std::string> parameters;
};
bool read(const In& in, StorageClass& out);

struct CsiNodeDriver {
  Interned name;
  Text nodeId;
  std::vector<Interned> topologyKeys;
  std::optional<int32_t> allocatableCount;  // nullopt: no limit
};
struct CsiNode {
  ObjectMeta meta;  // the node's name
  std::vector<CsiNodeDriver> drivers;
};
bool read(const In& in, CsiNode& out);

struct CsiDriver {
  ObjectMeta meta;  // the driver's name
  bool storageCapacity = false;
  bool attachRequired = true;
};
bool read(const In& in, CsiDriver& out);

struct CsiStorageCapacity {
  ObjectMeta meta;
  std::optional<LabelSelector> nodeTopology;
  Interned storageClassName;
  std::optional<Quantity> capacity;
  std::optional<Quantity> maximumVolumeSize;
};
bool read(const In& in, CsiStorageCapacity& out);

struct VolumeAttachment {
  ObjectMeta meta;
  Interned attacher;
  Interned nodeName;
  Text volumeName;  // of the PersistentVolume
  bool attached = false;
};
bool read(const In& in, VolumeAttachment& out);

}  // namespace mangrove::api
