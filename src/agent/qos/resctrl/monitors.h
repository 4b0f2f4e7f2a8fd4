#pragma once
// Monitoring groups of resctrl, one per pod: cache and memory traffic pod by pod. The processor
// counts for so many groups only (info/L3_MON/num_rmids), so somebody may go without. Pure
// functions, any thread.
//
//   for (size_t i : monitored(candidates, monitorsLeft(rmids, groups))) …
//   monitorGroup("BE", uid)                                // "BE/mon_groups/<uid>"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mangrove::agent {

struct MonitorCandidate {
  std::string_view group;  // LSR, LS, BE
  uint64_t serial = 0;     // the older the smaller
};

// Groups that can still be made beside `control` ones (everybody's included), keeping a few for
// others on the machine.
size_t monitorsLeft(int64_t rmids, size_t control);
// At most `most` of them, by index, ascending: best-effort pods first, for they are whom to limit;
// of one class the oldest, so that nobody loses his group to a newcomer of his class.
std::vector<size_t> monitored(std::span<const MonitorCandidate> pods, size_t most);
std::string monitorGroup(std::string_view group, std::string_view uid);

}  // namespace mangrove::agent
