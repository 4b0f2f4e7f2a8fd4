#include "agent/qos/strategy_list.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/hooks/reconcile.h"
#include "agent/qos/blkio/strategy.h"
#include "agent/qos/core_sched/strategy.h"
#include "agent/qos/cpu_burst/strategy.h"
#include "agent/qos/cpu_suppress/strategy.h"
#include "agent/qos/evict/strategy.h"
#include "agent/qos/interference/board.h"
#include "agent/qos/kernel_floor.h"
#include "agent/qos/memory_qos/strategy.h"
#include "agent/qos/network/strategy.h"
#include "agent/qos/network/terway_strategy.h"
#include "agent/qos/oom/strategy.h"
#include "agent/qos/resctrl/strategy.h"
#include "agent/qos/strategies.h"
#include "agent/qos/system_config/strategy.h"
#include "base/text/strings.h"

namespace mangrove::agent {
namespace {

using Made = std::unique_ptr<Strategy>;

constexpr MakeStrategy kStrategies[] = {
#define STRATEGY(name) &strategies::name,
#include "agent/qos/strategies.def"
#undef STRATEGY
};

// An interval of zero switches an evictor off.
template <class Evictor>
Made evictor(const StrategyOptions& options, const EvictorOptions& own) {
  if (own.interval <= Duration::zero()) return nullptr;
  return std::make_unique<Evictor>(options.lately, own);
}

}  // namespace

// Those that were there before the list; new ones define theirs in their own folder.
Made strategies::kernelFloor(const StrategyOptions& options) {
  return std::make_unique<KernelFloor>(options.ownsGroup);
}
Made strategies::cpuSuppress(const StrategyOptions&) {
  return std::make_unique<CpuSuppress>();
}
Made strategies::cpusetHook(const StrategyOptions&) {
  return std::make_unique<CpusetHook>();
}
Made strategies::batchResourceHook(const StrategyOptions&) {
  return std::make_unique<BatchResourceHook>();
}
Made strategies::groupIdentityHook(const StrategyOptions&) {
  return std::make_unique<GroupIdentityHook>();
}
Made strategies::normalizationHook(const StrategyOptions&) {
  return std::make_unique<NormalizationHook>();
}
Made strategies::cpuBurst(const StrategyOptions&) {
  return std::make_unique<CpuBurst>();
}
Made strategies::memoryQos(const StrategyOptions&) {
  return std::make_unique<MemoryQos>();
}
Made strategies::oomScore(const StrategyOptions&) {
  return std::make_unique<OomScore>();
}
Made strategies::resctrl(const StrategyOptions& options) {
  return std::make_unique<Resctrl>(options.interference);
}
Made strategies::podResctrl(const StrategyOptions&) {
  return std::make_unique<PodResctrl>();
}
Made strategies::blkio(const StrategyOptions&) {
  return std::make_unique<Blkio>();
}
Made strategies::systemConfig(const StrategyOptions&) {
  return std::make_unique<SystemConfig>();
}
Made strategies::coreSched(const StrategyOptions&) {
  return std::make_unique<CoreSched>();
}
Made strategies::networkQos(const StrategyOptions& options) {
  return std::make_unique<NetworkQos>(options.interference);
}
Made strategies::terwayQos(const StrategyOptions&) {
  return std::make_unique<TerwayQos>();
}
Made strategies::memoryEvict(const StrategyOptions& options) {
  return evictor<MemoryEvictor>(options, options.memoryEvict);
}
Made strategies::cpuEvict(const StrategyOptions& options) {
  return evictor<CpuEvictor>(options, options.cpuEvict);
}
Made strategies::watermarkEvict(const StrategyOptions& options) {
  return std::make_unique<WatermarkEvictor>(options.lately);
}

std::span<const MakeStrategy> strategyList() {
  return kStrategies;
}

Result<std::string> gatesOfStrategies(std::string_view named) {
  std::vector<std::string> known, out;
  const auto all = defaultStrategies();
  for (const auto& one : all)
    if (!one->info().gate.empty()) known.emplace_back(one->info().name);
  for (std::string_view word : split(named, ',')) {
    if (trim(word).empty()) continue;
    const Halves pair = cut(trim(word), '=');
    const auto found = std::ranges::find_if(all, [&](const auto& one) {
      return one->info().name == pair.before && !one->info().gate.empty();
    });
    if (found == all.end() || pair.after.empty())
      return invalid("--qos-extension-plugins '{}': want name=true or name=false of {}", word,
                     fmt::join(known, ", "));
    out.push_back(fmt::format("{}={}", (*found)->info().gate, pair.after));
  }
  return fmt::format("{}", fmt::join(out, ","));
}

std::vector<std::unique_ptr<Strategy>> defaultStrategies(StrategyOptions options) {
  if (!options.lately) options.lately = std::make_shared<EvictedLately>();
  if (!options.interference) options.interference = std::make_shared<InterferenceBoard>();
  std::vector<std::unique_ptr<Strategy>> all;
  for (MakeStrategy make : kStrategies)
    if (auto one = make(options)) all.push_back(std::move(one));
  return all;
}

}  // namespace mangrove::agent
