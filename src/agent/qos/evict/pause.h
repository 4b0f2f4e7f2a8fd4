#pragma once
// After an eviction the node takes no new best-effort work for a while: 300 s, twice as long when
// the last one is less than 30 minutes ago, an hour at most; and not before the trouble is over.
// Pure; any thread.
//
//   EvictionPause pause;
//   pause.evicted(now);                 // until() is now + 300 s
//   pause.isOn(now, stillInTrouble)

#include "base/number/units.h"
#include "json/value.h"

namespace mangrove::agent {

class EvictionPause {
 public:
  static constexpr Duration kFirst = std::chrono::seconds(300);
  static constexpr Duration kLongest = std::chrono::seconds(3600);
  static constexpr Duration kRepeats = std::chrono::minutes(30);

  // Several at the same moment count once.
  void evicted(MonoTime now);
  bool isOn(MonoTime now, bool trouble) const;
  MonoTime until() const { return until_; }
  // For a successor on the same boot, where monotonic time goes on. Null: never paused.
  json::Value state() const;
  void restore(const json::Value& state);
  Duration length() const { return length_; }

 private:
  MonoTime last_ = MonoTime::min(), until_ = MonoTime::min();
  Duration length_{};
};

}  // namespace mangrove::agent
