#pragma once
// What happened in the cluster, as far as it may make a waiting pod schedulable. Plugins that
// refused the pod are asked whether the event could change their mind (Plugin::hint).

#include <cstdint>
#include <memory>
#include <string_view>

#include "api/object/node.h"
#include "api/pod/pod.h"
#include "placement/framework/verdict.h"

namespace mangrove::placement {

enum class EventKind : uint8_t {
  kWildcard,  // retry everybody: time has passed, or a plugin asks for it
  kAssignedPodAdd,
  kAssignedPodUpdate,
  kAssignedPodDelete,
  kPodUpdate,  // of the waiting pod itself
  kNodeAdd,
  kNodeUpdate,
  kNodeDelete,
  kNamespace,
  kStorage,    // volumes, claims, classes, drivers, capacities
  kSelectors,  // services and workloads
  kNodeMetric,
  kNodeTopology,
  kReservation,  // places for the parts to come
  kPodGroup,
  kQuota,
  kDevice,
  kResourceClaims,  // claims of Kubernetes' own devices, their classes and slices
};

constexpr uint32_t bit(EventKind kind) {
  return uint32_t{1} << static_cast<uint32_t>(kind);
}

namespace action {
inline constexpr uint32_t kAllocatable = 1;
inline constexpr uint32_t kLabel = 2;
inline constexpr uint32_t kTaint = 4;  // also unschedulable
inline constexpr uint32_t kCondition = 8;
inline constexpr uint32_t kAnnotation = 16;
inline constexpr uint32_t kScaleDown = 32;
inline constexpr uint32_t kTolerations = 64;
inline constexpr uint32_t kGates = 128;
}  // namespace action

struct ClusterEvent {
  EventKind kind = EventKind::kWildcard;
  uint32_t actions = 0;
  std::string_view label = "";                               // for logs and metrics
  std::shared_ptr<const api::Pod> podBefore = {}, pod = {};  // of pod events
  std::shared_ptr<const api::Node> nodeBefore = {}, node = {};
  Row row = kNoRow;  // of the node concerned, when there is one
};

enum class Hint : uint8_t { kSkip, kQueue };

}  // namespace mangrove::placement
