#pragma once
// CPU burst over the tick: static burst for pods that may save up, quota scaling while the share
// pool is idle and the container is throttled, slowly back afterwards. The rules: burst.h,
// limiter.h; with the gate SteadyBurst also pools.h (a pool per NUMA node, who gives back first)
// and throttle_window.h (three throttled periods instead of one). Without the gate everything is
// judged as Koordinator does: one pool, the last second, and no way back but overload.

#include <map>

#include "agent/qos/cpu_burst/burst.h"
#include "agent/qos/cpu_burst/limiter.h"
#include "agent/qos/cpu_burst/throttle_window.h"
#include "agent/qos/strategy.h"

namespace mangrove::agent {

class CpuBurst final : public Strategy {
 public:
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;

 private:
  struct Track {
    int64_t quota = 0;
    MonoTime throttledAt = MonoTime::min();
    MonoTime usedAt = MonoTime::min();
    std::optional<TokenLimiter> limiter;
    MonoTime limitedAt = MonoTime::min();
    ThrottleWindow window;
  };
  // One tick's view: how busy the pool is, for everybody or container by container.
  struct Tick {
    const Situation& now;
    bool steady = false;
    PoolState whole = PoolState::kUnknown;
    std::map<uint64_t, PoolState> states = {};  // by container serial
    PoolState of(const ContainerLook& container) const;
  };
  void judgeEach(Tick& tick) const;
  bool isBoosted(const ContainerLook& container, MilliCpu limit) const;
  void pod(const Tick& tick, const PodLook& pod, Wishes& out);
  int64_t quotaOf(const Tick& tick, const ContainerLook& container, MilliCpu limit,
                  const api::CpuBurstConfig& config);
  bool isAllowed(Track& track, MonoTime at, const ContainerLook& container, MilliCpu limit,
                 const api::CpuBurstConfig& config) const;
  void forget(MonoTime at);

  std::map<uint64_t, Track> tracks_;  // by container serial
};

}  // namespace mangrove::agent
