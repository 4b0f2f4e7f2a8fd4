#include "agent/qos/strategy_list.h"

#include "agent/hooks/reconcile.h"
#include "agent/qos/blkio/strategy.h"
#include "agent/qos/core_sched/strategy.h"
#include "agent/qos/cpu_burst/strategy.h"
#include "agent/qos/cpu_suppress/strategy.h"
#include "agent/qos/evict/strategy.h"
#include "agent/qos/kernel_floor.h"
#include "agent/qos/memory_qos/strategy.h"
#include "agent/qos/network/strategy.h"
#include "agent/qos/network/terway_strategy.h"
#include "agent/qos/oom/strategy.h"
#include "agent/qos/resctrl/strategy.h"
#include "agent/qos/system_config/strategy.h"

namespace mangrove::agent {
namespace {

using Made = std::unique_ptr<Strategy>;

template <class S>
Made plain(const StrategyOptions&) {
  return std::make_unique<S>();
}

Made floorOf(const StrategyOptions& options) {
  return std::make_unique<KernelFloor>(options.ownsGroup);
}

Made marksOf(const StrategyOptions& options) {
  return std::make_unique<WatermarkEvictor>(options.lately);
}

// An interval of zero switches an evictor off.
template <class Evictor, EvictorOptions StrategyOptions::*Own>
Made evictor(const StrategyOptions& options) {
  if ((options.*Own).interval <= Duration::zero()) return nullptr;
  return std::make_unique<Evictor>(options.lately, options.*Own);
}

constexpr MakeStrategy kStrategies[] = {
    &floorOf,
    &plain<CpuSuppress>,
    &plain<CpusetHook>,
    &plain<BatchResourceHook>,
    &plain<GroupIdentityHook>,
    &plain<NormalizationHook>,
    &plain<CpuBurst>,
    &plain<MemoryQos>,
    &plain<OomScore>,
    &plain<Resctrl>,
    &plain<PodResctrl>,
    &plain<Blkio>,
    &plain<SystemConfig>,
    &plain<CoreSched>,
    &plain<NetworkQos>,
    &plain<TerwayQos>,
    &evictor<MemoryEvictor, &StrategyOptions::memoryEvict>,
    &evictor<CpuEvictor, &StrategyOptions::cpuEvict>,
    &marksOf,
};

}  // namespace

std::span<const MakeStrategy> strategyList() {
  return kStrategies;
}

std::vector<std::unique_ptr<Strategy>> defaultStrategies(StrategyOptions options) {
  if (!options.lately) options.lately = std::make_shared<EvictedLately>();
  std::vector<std::unique_ptr<Strategy>> all;
  for (MakeStrategy make : kStrategies)
    if (auto one = make(options)) all.push_back(std::move(one));
  return all;
}

}  // namespace mangrove::agent
