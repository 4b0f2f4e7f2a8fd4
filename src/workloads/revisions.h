#pragma once
// Templates remembered by name: the ControllerRevisions of a StatefulSet or DaemonSet, by which
// pods of different templates are told apart and `kubectl rollout undo` finds the way back. Pure
// functions, any thread.

#include <memory>
#include <string>
#include <vector>

#include "workloads/objects.h"
#include "workloads/plan.h"

namespace mangrove::workloads {

inline constexpr std::string_view kRevisionHash = "controller-revision-hash";

using Revisions = std::vector<std::shared_ptr<const ControllerRevision>>;

// Finds the revision of the present template or plans it, keeps its number the highest, and drops
// old ones that no pod uses beyond the history limit. `inUse`: revision names of live pods.
// Returns the name of the present template's revision.
std::string planRevisions(const api::Kind& kind, const WorkloadHead& head,
                          const Revisions& revisions, const std::vector<std::string>& inUse,
                          Plan& plan);

// What a revision holds of a template.
std::string revisionData(std::string_view templateText);

// The template a pod of that revision is made from; the present one when it is not known.
std::string templateOf(const WorkloadHead& head, const Revisions& revisions, std::string_view name);

// By what label a pod names its revision: DaemonSets use the bare hash.
std::string revisionHash(const WorkloadHead& head, std::string_view revisionName);

}  // namespace mangrove::workloads
