#pragma once
// Preemption for a whole group: which pods of lower priority would have to go so that every member
// that must start gets its place, each member counted where those before it went, and where the
// group's own rule about the network says. Nodes whose victims matter least are taken first: few
// that break a disruption budget, few that a started gang needs, then low priorities. Whoever turns
// out not to be in the way stays, budgets and needed members first; a gang that would be left with
// less than its minimum goes whole, if all of it may go.
//
//   Transaction trial(cluster);
//   const JobPreemption found = preemptForGroup({profile, cluster, trial, task, pods});
//   if (found.helps()) { nominate found.rows; evict found.victims; }
//
// The cluster is as before when it returns. Owner thread only.

#include <string>
#include <vector>

#include "placement/cycle/group.h"

namespace mangrove::placement {

struct JobPreemption {
  std::vector<Row> rows;        // by member; kNoRow: no place needed or found
  std::vector<PodPtr> victims;  // by node, less important ones last
  std::string message;          // why not; "" when it helps
  bool helps() const { return message.empty(); }
};
JobPreemption preemptForGroup(const GroupQuestion& question);

// How much the victims of a node matter: for each job among them the rank of its highest priority
// among all priorities of victims.
int64_t costOf(const std::vector<PodPtr>& victims, const std::vector<int32_t>& ranks);

}  // namespace mangrove::placement
