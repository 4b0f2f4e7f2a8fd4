#pragma once
// Whether a container runs short of its quota, judged over several periods of the quota's clock
// instead of one: three throttled periods within three seconds, and more than a twentieth of all.
// After a step up the periods under the old quota do not count. A value, one per container.
//
//   window.add(now, {.passed = 10, .throttled = 4});
//   if (window.isShort(now)) …  window.clear();

#include <cstdint>
#include <utility>
#include <vector>

#include "agent/collect/cgroup_meter.h"
#include "base/number/units.h"

namespace mangrove::agent {

struct ThrottleOptions {
  Duration window = std::chrono::seconds(3);
  int64_t leastThrottled = 3;  // periods
  int64_t sharePercent = 5;    // of the periods that passed
};

// The rule itself.
bool isShortOfQuota(const PeriodCount& seen, const ThrottleOptions& options = {});

class ThrottleWindow {
 public:
  explicit ThrottleWindow(ThrottleOptions options = {}) : options_(options) {}
  void add(MonoTime at, const PeriodCount& count);
  bool isShort(MonoTime at);
  void clear() { seen_.clear(); }

 private:
  ThrottleOptions options_;
  std::vector<std::pair<MonoTime, PeriodCount>> seen_;
};

}  // namespace mangrove::agent
