#include "agent/qos/cpu_burst/strategy.h"

#include <fmt/format.h>

#include "agent/executor/owners.h"

namespace mangrove::agent {
namespace {

constexpr std::string_view kQuotaFile = "cpu.cfs_quota_us";
constexpr std::string_view kBurstFile = "cpu.cfs_burst_us";
constexpr int64_t kDefaultThreshold = 50;  // percent of the share pool
constexpr Duration kForgetAfter = std::chrono::minutes(5);

MilliCpu limitOf(const api::Pod& pod, std::string_view container) {
  for (const api::Container& one : pod.spec->containers)
    if (one.name.view() == container) return one.limits.cpu();
  return {0};
}

// A pod without a limit of its own keeps none.
bool hasLimit(const Situation& now, const PodLook& pod) {
  const auto present = now.present.present(pod.cgroup, kQuotaFile);
  return present && present->number != kUnlimited;
}

}  // namespace

StrategyInfo CpuBurst::info() const {
  return {.name = owner::kCpuBurst, .gate = "CPUBurst", .period = std::chrono::seconds(1)};
}

Wishes CpuBurst::decide(const Situation& now) {
  if (!now.look.slo || !now.look.slo->cpuBurstStrategy)
    return Wishes::holding("no burst strategy in the NodeSLO");
  Wishes out;
  const PoolState state = poolState(now);
  out.note = fmt::format("share pool {}", poolStateName(state));
  for (const PodLook& one : now.look.pods)
    if (one.pod && !api::isTerminated(*one.pod) && mayBurst(*one.pod)) pod(now, one, state, out);
  forget(now.look.at);
  return out;
}

PoolState CpuBurst::poolState(const Situation& now) const {
  std::vector<PoolPod> pods;
  for (const PodLook& pod : now.look.pods)
    if (pod.pod) pods.push_back({pod.pod.get(), pod.usage.cpu});
  const auto& threshold = now.look.slo->cpuBurstStrategy->sharePoolThresholdPercent;
  return sharePoolState(now.look.machine->cpus().cpus.size(), pods, now.look.node.usage.cpu,
                        threshold.value_or(Percent{kDefaultThreshold}).v);
}

void CpuBurst::pod(const Situation& now, const PodLook& pod, PoolState state, Wishes& out) {
  const api::CpuBurstConfig config = burstConfigOf(*pod.pod, *now.look.slo->cpuBurstStrategy);
  const bool canSave = now.look.machine->can().has(kernel::Feature::kCfsBurst);
  int64_t bursts = 0, quotas = 0;
  bool all = true;
  for (const ContainerLook& container : pod.containers) {
    if (container.name.empty()) continue;
    const MilliCpu limit = limitOf(*pod.pod, container.name);
    all &= limit.v > 0;
    if (limit.v <= 0) continue;
    const std::string cgroup(container.cgroup);
    if (canSave && savesUp(config)) {
      bursts += staticBurst(limit, config);
      out.base(cgroup, kBurstFile, FileValue::of(staticBurst(limit, config)),
               "saved up while idle");
    }
    if (!scalesQuota(config)) continue;
    const int64_t quota = quotaOf(now, container, limit, config, state);
    quotas += quota;
    out.base(cgroup, kQuotaFile, FileValue::of(quota),
             fmt::format("limit {}m, share pool {}", limit.v, poolStateName(state)));
  }
  const std::string cgroup(pod.cgroup);
  if (bursts > 0) out.base(cgroup, kBurstFile, FileValue::of(bursts), "sum of the containers");
  if (quotas > 0 && all && hasLimit(now, pod))
    out.base(cgroup, kQuotaFile, FileValue::of(quotas), "sum of the containers");
}

int64_t CpuBurst::quotaOf(const Situation& now, const ContainerLook& container, MilliCpu limit,
                          const api::CpuBurstConfig& config, PoolState state) {
  Track& track = tracks_[container.serial];
  if (track.quota == 0) {
    const auto present = now.present.present(container.cgroup, kQuotaFile);
    track.quota = present && present->number != kUnlimited ? present->number : quotaBase(limit);
    track.throttledAt = now.look.at;
  }
  track.usedAt = now.look.at;
  if (container.throttled.value_or(0) > 0) track.throttledAt = now.look.at;
  BurstRound round;
  round.node = state;
  round.scales = true;
  round.allowed = isAllowed(track, now.look.at, container, limit, config);
  round.throttled = container.throttled;
  if (config.cfsQuotaBurstPercent) round.burstPercent = config.cfsQuotaBurstPercent->v;
  track.quota = nextQuota(track.quota, limit, round);
  track.quota = decayedQuota(track.quota, limit, now.look.at - track.throttledAt);
  return track.quota;
}

bool CpuBurst::isAllowed(Track& track, MonoTime at, const ContainerLook& container, MilliCpu limit,
                         const api::CpuBurstConfig& config) const {
  const auto percent =
      config.cfsQuotaBurstPercent ? std::optional(config.cfsQuotaBurstPercent->v) : std::nullopt;
  const auto& period = config.cfsQuotaBurstPeriodSeconds;
  const LimiterRule rule = limiterRule(period, percent);
  if (rule != LimiterRule::kTokens) return rule == LimiterRule::kAlways;
  if (!track.limiter || !track.limiter->fits(*period, *percent)) {
    // A quarter of the capacity to begin with: the middle of what the reference draws.
    track.limiter.emplace(*period, *percent, *period * (*percent - 100) / 4);
    track.limitedAt = at;
  }
  const double used = container.usage.cpu.value_or(static_cast<double>(limit.v) / 1000);
  const auto usage = static_cast<int64_t>(used * 1000 / static_cast<double>(limit.v) * 100);
  const Duration since = at - track.limitedAt;
  // Whole seconds count; what is left over waits for the next call.
  track.limitedAt += std::chrono::duration_cast<std::chrono::seconds>(since);
  return track.limiter->use(since, usage);
}

void CpuBurst::forget(MonoTime at) {
  std::erase_if(tracks_, [&](const auto& one) { return at - one.second.usedAt > kForgetAfter; });
}

}  // namespace mangrove::agent
