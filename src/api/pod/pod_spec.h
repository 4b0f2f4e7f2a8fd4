#pragma once
// The part of a pod that its siblings share: what it asks for and where it may run. Pods of one
// template have one PodSpec in memory (shared.h), so `pod.spec.id()` names a class of equal pods.
// What differs between siblings (the node) is in pod.h; what only a runner of containers needs
// (commands, environment, probes, mounts) is in pod_run.h, read from the same JSON when wanted.

#include <cstdint>
#include <optional>
#include <vector>

#include "api/object/shared.h"
#include "api/pod/affinity.h"
#include "api/pod/resource_list.h"
#include "api/select/labels.h"
#include "api/wire/decode.h"
#include "api/wire/text.h"

namespace mangrove::api {

struct ContainerPort {
  Interned name;
  int32_t containerPort = 0;
  int32_t hostPort = 0;  // 0: none
  Interned protocol;     // "" is TCP
  Interned hostIp;       // "" is all addresses
  bool operator==(const ContainerPort&) const = default;
};

struct Container {
  Interned name;
  Interned image;
  ResourceList requests;
  ResourceList limits;
  std::vector<ContainerPort> ports;
  std::vector<Interned> claims;  // names in PodSpec::resourceClaims
  bool isSidecar = false;        // an init container that stays: restartPolicy Always
  bool operator==(const Container&) const = default;
};
bool read(const In& in, Container& out);

// Volumes whose kind matters to scheduling; all others (config maps, secrets, empty directories …)
// are left out.
struct Volume {
  enum class Source : uint8_t {
    kClaim,      // id: claim name
    kEphemeral,  // the claim is called <pod>-<name>
    kCsi,        // id: driver
    kGceDisk,    // id: pdName
    kAwsDisk,    // id: volumeID
    kAzureDisk,  // id: diskName
    kCinder,     // id: volumeID
    kVsphere,    // id: volumePath
    kPortworx,   // id: volumeID
    kRbd,        // id: image
    kIscsi,      // id: iqn
  };
  Interned name;
  Source source = Source::kClaim;
  bool readOnly = false;
  Text id;
  Interned pool;                   // RBD
  std::vector<Interned> monitors;  // RBD
  Interned claimStorageClass;      // kEphemeral: of the claim's template
  bool operator==(const Volume&) const = default;
};

struct PodResourceClaim {
  Interned name;
  Text claimName;  // exactly one of the two
  Text templateName;
  bool operator==(const PodResourceClaim&) const = default;
};

enum class PreemptionPolicy : uint8_t { kUnset, kPreemptLowerPriority, kNever };
enum class RestartPolicy : uint8_t { kAlways, kOnFailure, kNever };

struct PodSpec {
  Interned schedulerName;
  Interned priorityClassName;
  std::optional<int32_t> priority;
  PreemptionPolicy preemptionPolicy = PreemptionPolicy::kUnset;
  RestartPolicy restartPolicy = RestartPolicy::kAlways;
  bool hostNetwork = false;
  bool hostPid = false;
  bool hostIpc = false;
  int64_t terminationGracePeriodSeconds = 30;
  std::optional<int64_t> activeDeadlineSeconds;

  std::vector<Container> containers;
  std::vector<Container> initContainers;
  ResourceList overhead;
  ResourceList podRequests;  // spec.resources, set for the pod as a whole
  ResourceList podLimits;
  bool hasPodResources = false;

  Labels nodeSelector;
  Shared<Affinity> affinity;
  std::vector<Toleration> tolerations;
  std::vector<SpreadConstraint> spread;
  std::vector<Volume> volumes;
  std::vector<Interned> schedulingGates;
  std::vector<PodResourceClaim> resourceClaims;
  Interned runtimeClassName;
  Interned serviceAccountName;
  Interned os;  // spec.os.name
  bool operator==(const PodSpec&) const = default;
};
bool read(const In& in, PodSpec& out);

}  // namespace mangrove::api
