#pragma once
// Which pods were tried for which service and not found guilty: not suspected again for a while, and
// for twice as long each time again, over episodes and restarts. Every experiment has a small chance
// to accuse somebody who did nothing; who is tried every few minutes is accused in the end.
//
//   acquittals.add("web", "sort", now, 30min);
//   acquittals.holds("web", "sort", now + 20min)        // true
//
// Pods by uid. One owner.

#include <map>
#include <string>
#include <utility>

#include "base/number/units.h"
#include "json/fwd.h"

namespace mangrove::agent::interference {

class Acquittals {
 public:
  static constexpr Duration kLongest = std::chrono::hours(12);
  static constexpr Duration kForgotten = std::chrono::hours(24);  // after the last one
  static constexpr size_t kMost = 512;

  // Not again for `lasts`, doubled by each one before.
  void add(const std::string& victim, const std::string& suspect, WallTime now, Duration lasts);
  bool holds(const std::string& victim, const std::string& suspect, WallTime now) const;
  // What is too old to count.
  void age(WallTime now);
  size_t size() const { return all_.size(); }

  json::Value state() const;
  void restore(const json::Value& state);

 private:
  struct One {
    int times = 0;
    WallTime until{};
  };
  std::map<std::pair<std::string, std::string>, One> all_;
};

}  // namespace mangrove::agent::interference
