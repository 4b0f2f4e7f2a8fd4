#pragma once
// When a watermark of Crane's NodeQOS counts as crossed and when as over again, and how long the
// node stays closed for new work. Values; one owner.
//
//   Phase phase = watch.sample(above, {.avoidance = 2, .restore = 2});      // every ten seconds

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "base/number/units.h"
#include "json/fwd.h"

namespace mangrove::agent::crane {

enum class Phase : uint8_t {
  kQuiet,
  kTriggered,
  kRestored,
  kUnknown,  // the metric is missing: nothing changes
};

struct Thresholds {
  int avoidance = 1, restore = 1;
};

class RuleWatch {
 public:
  // `above`: strictly greater than the watermark on any series; nullopt: not measured.
  Phase sample(std::optional<bool> above, const Thresholds& thresholds);
  // It was triggered and is not restored yet.
  bool isPending() const { return triggered_; }
  int hits() const { return hit_; }
  int misses() const { return miss_; }
  void set(int hit, int miss, bool triggered) {
    hit_ = hit;
    miss_ = miss;
    triggered_ = triggered;
  }

 private:
  int hit_ = 0, miss_ = 0;
  bool triggered_ = false;
};

struct RulePhase {
  std::string key;
  Phase phase = Phase::kQuiet;
  Duration coolDown{};
};

// The node takes no new work from the first trigger until all rules are restored and the longest
// cool-down is over; a restore within it is remembered.
class SchedulingBlock {
 public:
  bool step(WallTime now, std::span<const RulePhase> rules);
  bool isOn() const { return on_; }
  json::Value state() const;
  void restore(const json::Value& state);

 private:
  bool on_ = false;
  WallTime lastTriggered_{};
  Duration coolDown_{};
  std::set<std::string> pending_;
};

}  // namespace mangrove::agent::crane
