#pragma once
// A pod as every component of ours sees it: about a kilobyte, most of it its own names and status.
//
//   auto pod = decode<Pod>(view);
//   pod->spec->containers[0].requests.cpu()
//   isTerminated(*pod)                                // never counted on a node, never queued
//
// Values; informers hand out shared_ptr<const Pod>, const access from any thread.

#include <cstdint>
#include <string_view>
#include <vector>

#include "api/object/condition.h"
#include "api/object/meta.h"
#include "api/object/shared.h"
#include "api/pod/pod_spec.h"
#include "api/pod/resource_list.h"
#include "api/wire/decode.h"
#include "api/wire/text.h"

namespace mangrove::api {

enum class PodPhase : uint8_t { kUnset, kPending, kRunning, kSucceeded, kFailed, kUnknown };
std::string_view podPhaseName(PodPhase phase);  // "" for kUnset

enum class KubeQos : uint8_t { kUnset, kGuaranteed, kBurstable, kBestEffort };
std::string_view kubeQosName(KubeQos qos);  // "" for kUnset

struct ContainerState {
  enum class Kind : uint8_t { kWaiting, kRunning, kTerminated } kind = Kind::kWaiting;
  Interned reason;
  int32_t exitCode = 0;  // terminated
  int32_t signal = 0;
  WallTime startedAt = kZeroTime;   // running, terminated
  WallTime finishedAt = kZeroTime;  // terminated
  Text message;
  bool operator==(const ContainerState&) const = default;
};

// What the node really gave a container, which differs from the spec while a resize is under way.
struct GrantedResources {
  ResourceList allocated;  // status.allocatedResources
  ResourceList requests;   // status.resources
  ResourceList limits;
  bool hasResources = false;
  bool operator==(const GrantedResources&) const = default;
};

struct ContainerStatus {
  Interned name;
  Interned image;
  Interned imageId;
  int32_t restartCount = 0;
  bool ready = false;
  bool started = false;
  Text containerId;  // "containerd://…"; "" before the first start
  ContainerState state;
  Shared<ContainerState> lastState;
  Shared<GrantedResources> granted;

  bool isRunning() const { return state.kind == ContainerState::Kind::kRunning; }
  bool isTerminated() const { return state.kind == ContainerState::Kind::kTerminated; }
  std::string_view bareId() const;  // without the "runtime://" in front
};

// Names of the claims made for the pod from templates.
struct ClaimStatus {
  Interned name;
  Text claimName;
  bool operator==(const ClaimStatus&) const = default;
};

struct PodStatus {
  PodPhase phase = PodPhase::kUnset;
  KubeQos qosClass = KubeQos::kUnset;
  Interned reason;
  Interned nominatedNodeName;
  Interned hostIp;
  Text podIp;
  Text secondIp;  // of a dual-stack pod: its address of the other family
  Text message;
  WallTime startTime = kZeroTime;
  std::vector<Condition> conditions;
  std::vector<ContainerStatus> containers;
  std::vector<ContainerStatus> initContainers;
  Shared<std::vector<ClaimStatus>> claims;

  // Of an ordinary or init container; nullptr when the node has not reported it.
  const ContainerStatus* find(Interned container) const;
};
bool read(const In& in, PodStatus& out);

struct Pod {
  ObjectMeta meta;
  Interned nodeName;  // spec.nodeName; "" until scheduled
  Shared<PodSpec> spec;
  PodStatus status;
};
bool read(const In& in, Pod& out);

// metadata and spec of a pod to be: in workloads and reservations.
struct PodTemplate {
  ObjectMeta meta;
  Interned nodeName;
  Shared<PodSpec> spec;
};
bool read(const In& in, PodTemplate& out);

// Succeeded or Failed.
bool isTerminated(const Pod& pod);
// Neither terminated nor being deleted.
bool isActive(const Pod& pod);
// Runs from a file on its node; the API object is only a mirror.
bool isMirror(const Pod& pod);
bool isOwnedBy(const ObjectMeta& meta, std::string_view kind);

}  // namespace mangrove::api
