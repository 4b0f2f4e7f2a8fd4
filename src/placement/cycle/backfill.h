#pragma once
// When a group that has no place now will have one: pods that say how long they run are taken away
// in the order of their ends until the group fits.
//
//   const auto ends = endings(cluster, now);
//   if (auto plan = planStart(question, ends, now)) …     // plan->start, plan->rows by member
//
// The transaction is as it was afterwards. Owner thread only.

#include <optional>
#include <vector>

#include "placement/cycle/group.h"

namespace mangrove::placement {

struct Ending {
  PodPtr pod;
  WallTime at = WallTime::max();  // max: it does not say
};

// When the pod will have run as long as it says; one that is late ends any moment.
std::optional<WallTime> expectedEnd(const api::Pod& pod, WallTime now);

// Of all pods with a node, the first one first; those that do not say come last, the oldest of
// them first.
std::vector<Ending> endings(const Cluster& cluster, WallTime now);

// nullopt: not even then. Only `task.isAged` counts on pods that do not say how long they run;
// whoever needs them has a start that nobody knows.
std::optional<GroupPlan> planStart(const GroupQuestion& question, const std::vector<Ending>& ends);

}  // namespace mangrove::placement
