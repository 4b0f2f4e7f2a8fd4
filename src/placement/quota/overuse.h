#pragma once
// Who has to go when a quota uses more than its runtime, and when.
//
//   OveruseClock clock(std::chrono::seconds(120));
//   if (clock.isDue(isOver, now)) for (size_t i : overuseVictims(used, runtime, pods)) …
//
// Every resource that the limit names counts, whether a pod asks for it or not. Pure; any thread.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/number/units.h"
#include "placement/quota/amounts.h"
#include "placement/quota/ledger.h"

namespace mangrove::placement {

struct OverusePod {
  int32_t priority = 0;
  WallTime started{};
  Amounts request;
  PodKind kind = PodKind::kPreemptible;  // fixed ones stay
};

// Taken from the least important (lowest priority, then latest start) until the rest is within the
// limit; then whoever fits again stays, the most important first. When even all do not suffice:
// all of them, as the reference does, or nobody (`onlyIfEnough`). Ascending indexes.
std::vector<size_t> overuseVictims(const Amounts& used, const Amounts& limit,
                                   std::span<const OverusePod> pods, bool onlyIfEnough = false);

// Over the limit for longer than `patience`: due once, and then the time starts anew.
class OveruseClock {
 public:
  explicit OveruseClock(Duration patience) : patience_(patience) {}
  bool isDue(bool over, MonoTime now);

 private:
  Duration patience_;
  std::optional<MonoTime> since_;
};

}  // namespace mangrove::placement
