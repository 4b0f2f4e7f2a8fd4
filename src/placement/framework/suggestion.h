#pragma once
// What somebody outside of the scheduler could do for a pod that found no node: told in its message
// and in the diagnosis, for people and for programs that act on it.

#include <string>
#include <string_view>

namespace mangrove::placement {

struct Suggestion {
  std::string type;
  std::string message;
};

namespace suggestion {
inline constexpr std::string_view kEvictWorkloadSelf = "EvictWorkloadSelf";  // and submit it again
inline constexpr std::string_view kWaitingVictimReleased = "WaitingVictimReleased";
inline constexpr std::string_view kDeleteConflictPvc = "DeleteConflictPVC";
}  // namespace suggestion

}  // namespace mangrove::placement
