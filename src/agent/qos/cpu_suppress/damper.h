#pragma once
// Keeps a limit from swinging: down at once, up only after it has held still, and with smaller
// steps when it had to come down lately. A value; one owner.
//
//   limit = damper.next(now, limit, wanted);        // wanted below limit: wanted

#include <cstdint>
#include <deque>

#include "base/number/units.h"

namespace mangrove::agent {

struct DamperOptions {
  Duration hold = std::chrono::seconds(2);     // after a cut nothing grows for so long
  Duration memory = std::chrono::seconds(30);  // cuts younger than this halve the growth, each
  int mostHalvings = 4;
};

// Growth is worth moving work for when it is more than a twentieth; around a border nothing moves
// to and fro.
constexpr bool isWorthGrowing(int64_t present, int64_t wanted) {
  return wanted - present > present / 20;
}

class Damper {
 public:
  explicit Damper(DamperOptions options = {}) : options_(options) {}
  int64_t next(MonoTime now, int64_t present, int64_t wanted);
  int recentCuts(MonoTime now);

 private:
  DamperOptions options_;
  std::deque<MonoTime> cuts_;
};

}  // namespace mangrove::agent
