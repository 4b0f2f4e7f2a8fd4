#pragma once
// How far the gang of a PodGroup has come, in the words of its status.
//
//   const api::PodGroupStatus next = nextStatus(group, counts, now);      // one step
//   if (!(next == group.status)) write(next);
//
// Pure functions, any thread.

#include "api/koordinator/pod_group.h"
#include "placement/plugins/coscheduling/gang_book.h"

namespace mangrove::placement {

struct GroupCounts {
  int32_t members = 0;    // all there are
  int32_t scheduled = 0;  // with a node, also when they have ended
  int32_t running = 0, succeeded = 0, failed = 0;
  std::string owners = {};  // "ns/name" of what owns them, joined by ","
};
GroupCounts countsOf(const Gang& gang);

// Finished, failed, or too old to be looked at again: nothing is written any more.
bool isSettled(const api::PodGroup& group);
api::PodGroupStatus nextStatus(const api::PodGroup& group, const GroupCounts& counts, WallTime now);

}  // namespace mangrove::placement
