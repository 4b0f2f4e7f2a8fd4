#pragma once
// How often each job was thrown out within the last 24 hours, as far as its keeper has seen.
//
//   tally.add(jobOf(pod), now);
//   tally.today(jobOf(pod), now)              // 1
//
// One owner, no locks.

#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "base/number/units.h"
#include "json/fwd.h"

namespace mangrove::stakes {

class EvictionTally {
 public:
  static constexpr auto kDay = std::chrono::hours(24);

  void add(std::string_view job, WallTime at);
  int today(std::string_view job, WallTime now) const;
  // Drops what is older than a day.
  void forget(WallTime now);
  size_t jobs() const { return at_.size(); }
  // For a successor: {"ns/Job/j":["2026-11-17T15:00:00.000000Z"]}. Null: nobody was evicted.
  json::Value state() const;
  void restore(const json::Value& state);  // what makes no sense is left out

 private:
  std::map<std::string, std::deque<WallTime>, std::less<>> at_;
};

}  // namespace mangrove::stakes
