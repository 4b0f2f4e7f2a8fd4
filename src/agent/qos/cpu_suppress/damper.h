#pragma once
// Keeps a limit from swinging: down at once, up only after it has held still, and with smaller
// steps when it had to come down lately. A value; one owner.
//
//   limit = damper.next(now, limit, wanted);        // wanted below limit: wanted

#include <cstddef>
#include <cstdint>
#include <deque>

#include "base/number/units.h"
#include "kernel/cpu_quota.h"
#include "stats/ewma.h"

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

// How fast the limit of best-effort work follows its budget: down at once, up as far as the budget
// has lasted, in steps, and slower where it had to come down lately. The strategy writes what comes
// out; the simulator takes it as it is.
//
//   quota = pace.quota(now, budget, cores, quota);         // policy cfsQuota
//   worth = pace.cpus(now, budget, count, processors);     // policy cpuset
class SuppressPace {
 public:
  static constexpr Duration kSteady = std::chrono::seconds(3);

  kernel::CpuQuota quota(MonoTime at, MilliCpu budget, int64_t capacityCores,
                         kernel::CpuQuota present);
  // The budget, but no more than the whole CPUs that may be had now; `present` 0: none are known.
  MilliCpu cpus(MonoTime at, MilliCpu budget, size_t present, size_t processors);

 private:
  MilliCpu lasting(MonoTime at, MilliCpu budget, MilliCpu present);

  Damper quotaDamper_, countDamper_;
  stats::Ewma steady_{kSteady};  // the budget in the long run: growth waits for it
};

}  // namespace mangrove::agent
