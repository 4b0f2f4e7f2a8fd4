#pragma once
// Deployment: moves replicas from the ReplicaSets of old templates to the one of the present
// template, never above replicas + maxSurge, never below replicas - maxUnavailable available. Pure
// functions, any thread.

#include <memory>
#include <string>
#include <vector>

#include "workloads/objects.h"
#include "workloads/plan.h"

namespace mangrove::workloads {

struct OwnedSet {
  std::shared_ptr<const ReplicaSet> set;
  std::string raw;
};

// `sets`: the ReplicaSets whose controller this deployment is. `pods`: the deployment's pods, for
// the Recreate strategy, which waits until the old ones are gone. `raw`: the deployment's JSON.
Plan planDeployment(const Deployment& deployment, const std::vector<OwnedSet>& sets,
                    const Pods& pods, std::string raw, WallTime now);

// How many pods a rollout may have in excess and may lack; both zero would never move.
struct RolloutBounds {
  int32_t surge = 0, unavailable = 0;
};
RolloutBounds rolloutBounds(const Deployment& deployment);

inline constexpr std::string_view kTemplateHash = "pod-template-hash";
inline constexpr std::string_view kRevision = "deployment.kubernetes.io/revision";

}  // namespace mangrove::workloads
