#pragma once
// CPU burst over the tick: static burst for pods that may save up, quota scaling while the share
// pool is idle and the container is throttled, slowly back afterwards. The rules: burst.h,
// limiter.h.

#include <map>

#include "agent/qos/cpu_burst/burst.h"
#include "agent/qos/cpu_burst/limiter.h"
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
  };
  PoolState poolState(const Situation& now) const;
  void pod(const Situation& now, const PodLook& pod, PoolState state, Wishes& out);
  int64_t quotaOf(const Situation& now, const ContainerLook& container, MilliCpu limit,
                  const api::CpuBurstConfig& config, PoolState state);
  bool isAllowed(Track& track, MonoTime at, const ContainerLook& container, MilliCpu limit,
                 const api::CpuBurstConfig& config) const;
  void forget(MonoTime at);

  std::map<uint64_t, Track> tracks_;  // by container serial
};

}  // namespace mangrove::agent
