#pragma once
// The answer to a ScheduleExplanation: whether the pods somebody asks about can be placed, on which
// nodes, who refuses the others and why, and whom they would have to displace. Nothing is written
// and nothing is decided.
//
//   Question question{waitingPods, placedPods, "topology.kubernetes.io/zone"};
//   api::ScheduleExplanationStatus status = answerTo(question, engine);
//
// Owner thread only.

#include <memory>
#include <string>
#include <vector>

#include "api/koordinator/schedule_explanation.h"
#include "placement/engine/engine.h"

namespace mangrove::placement {

// The name under which a pod is asked about: its label questioned-object-key, else that of its gang
// ("-master" and "-worker" at the end of a pod group's name do not count), else its own.
std::string questionedKeyOf(const api::Pod& pod);

// Why a pod without a node is not even tried, whatever nodes there are: its gates, or a plugin that
// it needs and this version lacks. "": it is.
std::string heldBack(const api::Pod& pod, const Profile& profile);

// Who refuses which nodes, after a cycle: by plugin and reason, names in order. At most `most`
// names are told of each.
std::vector<api::NodeFailure> nodeFailures(Cycle& cycle, Cluster& cluster,
                                           size_t most = ~size_t{0});

struct Question {
  std::vector<std::shared_ptr<const api::Pod>> waiting;  // without a node
  std::vector<PodPtr> placed;
  std::string topologyKey;  // "": all nodes are one domain
};

namespace explanation {
inline constexpr size_t kMostMembers = 16;   // pods without a node that are looked at
inline constexpr size_t kMostDomains = 100;  // in the order of their names
inline constexpr size_t kMostNames = 200;    // of nodes, for each reason
}  // namespace explanation

// lastUpdateTime is left to the caller.
api::ScheduleExplanationStatus answerTo(const Question& question, Engine& engine);

}  // namespace mangrove::placement
