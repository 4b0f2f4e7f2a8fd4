#pragma once
// The reporting half of the Deployment controller: which ReplicaSet is which, and what the status
// says about the rollout. Pure functions, any thread.

#include <optional>
#include <string>
#include <vector>

#include "workloads/deployment.h"

namespace mangrove::workloads {

struct Sorted {
  std::optional<OwnedSet> fresh;  // of the present template
  std::vector<OwnedSet> old;      // oldest first
  int64_t nextRevision = 1;       // one more than any old set has
  int64_t shownRevision = 0;      // what the deployment's annotation should say; 0: as it is
  std::string createdName;        // the set this plan creates
};

int64_t revisionOf(const api::ObjectMeta& meta);
Sorted sortSets(const Deployment& deployment, const std::vector<OwnedSet>& sets);
// All replicas are of the present template and available.
bool isComplete(const Deployment& deployment, const Sorted& sets);

void planDeploymentStatus(const Deployment& deployment, const Sorted& sets,
                          const RolloutBounds& bounds, std::string raw, WallTime now, Plan& plan);

}  // namespace mangrove::workloads
