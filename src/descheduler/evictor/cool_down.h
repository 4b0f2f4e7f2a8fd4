#pragma once
// After a move of a workload away from a node the rest of it there has peace for a while: what the
// move brings shows only then. Moves of one cycle are one decision and do not hold each other.
//
//   CoolDown rest(std::chrono::minutes(5));
//   rest.note("uid-of-rs", "n1", now, cycle);
//   if (auto left = rest.left("uid-of-rs", "n1", now, cycle)) …   so long still
//
// Owner's thread; time is given.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"

namespace mangrove::descheduler {

class CoolDown {
 public:
  explicit CoolDown(Duration rest) : rest_(rest) {}
  void note(std::string_view workload, std::string_view node, WallTime when, uint64_t cycle);
  std::optional<Duration> left(std::string_view workload, std::string_view node, WallTime now,
                               uint64_t cycle) const;
  size_t size() const { return last_.size(); }

 private:
  struct Move {
    WallTime when;
    uint64_t cycle;
  };
  Duration rest_;
  std::map<std::pair<std::string, std::string>, Move> last_;
};

}  // namespace mangrove::descheduler
