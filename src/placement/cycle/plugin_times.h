#pragma once
// How long single plugins take: scheduler_plugin_execution_duration_seconds. Every tenth cycle is
// looked at, as in kube-scheduler, so that looking costs nothing to speak of. A node-local filter
// or score is one observation for all nodes it was asked about, not one per node.
//
//   PluginTimes times(metrics.pluginExecution, clock);
//   PluginTimes* sampled = times.sampled();                 // null nine times out of ten
//   timed(sampled, plugin, Point::kReserve, [&] { return plugin.reserve(…).has_value(); });
//
// Owner thread only.

#include <map>
#include <tuple>

#include "base/clock.h"
#include "placement/engine/metrics.h"
#include "placement/framework/plugin.h"

namespace mangrove::placement {

class PluginTimes {
 public:
  static constexpr uint64_t kEvery = 10;

  PluginTimes(HistogramFamily& family, Clock& clock) : family_(family), clock_(clock) {}

  // For the cycle that begins.
  PluginTimes* sampled() { return ++cycles_ % kEvery == 0 ? this : nullptr; }
  MonoTime now() const { return clock_.mono(); }
  void add(const Plugin& plugin, Point point, bool good, Duration took);

 private:
  HistogramFamily& family_;
  Clock& clock_;
  uint64_t cycles_ = 0;
  std::map<std::tuple<const Plugin*, Point, bool>, Histogram> handles_;
};

// Runs `call`, which says whether all is well.
template <class Call>
void timed(PluginTimes* times, const Plugin& plugin, Point point, Call call) {
  const MonoTime start = times ? times->now() : MonoTime{};
  const bool good = call();
  if (times) times->add(plugin, point, good, times->now() - start);
}

}  // namespace mangrove::placement
