#pragma once
// ReplicaSet: so many pods of one template, no more and no fewer. Pure functions, any thread.

#include <string>

#include "workloads/objects.h"
#include "workloads/plan.h"

namespace mangrove::workloads {

// `kind`: ReplicaSet or ReplicationController. `pods`: the set's own pods, terminated and terminating ones included. `raw` is the set's JSON.
// `trouble`: why the last creation failed, "" when it did not.
Plan planReplicaSet(const api::Kind& kind, const ReplicaSet& set, const Pods& pods, std::string raw,
                    WallTime now, std::string_view trouble = {});

}  // namespace mangrove::workloads
