#include "sim/simulation.h"

#include "sim/world.h"

namespace mangrove::sim {
namespace {

constexpr Seconds kHour = 3600;

HourPoint pointOf(const Sums& before, const Sums& after, Seconds seconds) {
  const auto length = static_cast<double>(seconds);
  HourPoint out;
  const double capacity = after.capacity - before.capacity;
  const double time = after.serviceTime - before.serviceTime;
  if (capacity > 0) out.utilisation = (after.used - before.used) / capacity;
  out.sold = (after.sold - before.sold) / length;
  out.batchUsed = (after.batchUsed - before.batchUsed) / length;
  if (time > 0)
    out.shortShare =
        (after.cpuShort + after.memoryShort - before.cpuShort - before.memoryShort) / time;
  return out;
}

}  // namespace

Result<SimResult> simulate(const Trace& trace, const Policy& policy, const SimOptions& options) {
  World world(trace, policy, options);
  if (auto ok = world.begin(); !ok) return pass(ok.error());
  std::vector<HourPoint> hours;
  Sums before;
  Seconds since = 0;
  for (Seconds at = 0; at + trace.step <= trace.length; at += trace.step) {
    world.step(at);
    const Seconds now = at + trace.step;
    if (options.look) options.look(now, world.nodes());
    if (now - since < kHour && now + trace.step <= trace.length) continue;
    hours.push_back(pointOf(before, world.sums(), now - since));
    before = world.sums();
    since = now;
    if (options.progress) options.progress(now);
  }
  SimResult out = world.result();
  out.hours = std::move(hours);
  return out;
}

}  // namespace mangrove::sim
