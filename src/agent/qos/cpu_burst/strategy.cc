#include "agent/qos/cpu_burst/strategy.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/executor/owners.h"
#include "agent/gates.h"
#include "agent/qos/cpu_burst/pools.h"
#include "api/annotations/cpu.h"
#include "api/pod/pod_requests.h"
#include "api/wire/names.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

constexpr std::string_view kQuotaFile = kernel::resource_name::kCpuQuota;
constexpr std::string_view kBurstFile = kernel::resource_name::kCpuBurst;
constexpr std::string_view kCpusFile = kernel::resource_name::kCpuset;
constexpr int64_t kDefaultThreshold = 50;  // percent of the share pool
constexpr Duration kForgetAfter = std::chrono::minutes(5);
// Of the pool's state: a spike of one second neither opens nor closes it.
constexpr Duration kPoolWindow = std::chrono::seconds(5);

// Sidecars run as long as the pod and share its quota.
MilliCpu limitOf(const api::Pod& pod, std::string_view container) {
  for (const api::Container& one : pod.spec->containers)
    if (one.name.view() == container) return one.limits.cpu();
  for (const api::Container& one : pod.spec->initContainers)
    if (one.isSidecar && one.name.view() == container) return one.limits.cpu();
  return {0};
}

// What the pod's quota must leave room for beside the containers that are there: containers and
// sidecars that start or restart get their limit from the runtime, which the kernel refuses (v1) or
// makes worthless (v2) inside of a smaller pod. nullopt: one of them has no limit.
std::optional<int64_t> quotaOfAbsent(const PodLook& pod) {
  int64_t sum = 0;
  const auto count = [&](const api::Container& one) {
    const bool isThere = std::any_of(pod.containers.begin(), pod.containers.end(),
                                     [&](const auto& c) { return c.name == one.name.view(); });
    sum += isThere ? 0 : quotaBase(one.limits.cpu());
    return one.limits.cpu().v > 0;
  };
  for (const api::Container& one : pod.pod->spec->containers)
    if (!count(one)) return std::nullopt;
  for (const api::Container& one : pod.pod->spec->initContainers)
    if (one.isSidecar && !count(one)) return std::nullopt;
  return sum;
}

// A pod without a limit of its own keeps none.
bool hasLimit(const Situation& now, const PodLook& pod) {
  const auto present = now.present.present(pod.cgroup, kQuotaFile);
  return present && present->number != kUnlimited;
}

bool isConcerned(const PodLook& pod) {
  return pod.pod && !api::isTerminated(*pod.pod) && mayBurst(*pod.pod);
}

int64_t thresholdOf(const Situation& now) {
  return now.look.slo->cpuBurstStrategy->sharePoolThresholdPercent
      .value_or(Percent{kDefaultThreshold})
      .v;
}

// Over the window; the last value where no history is kept.
std::optional<double> steadily(const Look& look, const Shelf& shelf, std::optional<Shelf::Id> id,
                               uint32_t column, std::optional<double> last) {
  const auto mean =
      id ? shelf.average(*id, column, look.at - kPoolWindow + Duration(1), look.at) : std::nullopt;
  return mean ? mean : last;
}

std::optional<double> nodeUsage(const Look& look) {
  if (!look.history) return look.node.usage.cpu;
  return steadily(look, look.history->node(), look.history->nodeTrack(), node_column::kCpu,
                  look.node.usage.cpu);
}

std::optional<double> podUsage(const Look& look, const PodLook& pod) {
  if (!look.history) return pod.usage.cpu;
  const Shelf& shelf = look.history->pods();
  return steadily(look, shelf, shelf.find(pod.uid), pod_column::kCpu, pod.usage.cpu);
}

std::optional<double> zoneUsage(const Look& look, const NumaLook& zone) {
  if (!look.history) return zone.usage.cpu;
  const Shelf& shelf = look.history->numa();
  return steadily(look, shelf, shelf.find(std::to_string(zone.node)), numa_column::kCpu,
                  zone.usage.cpu);
}

// Only these are taken off what the pool uses.
bool isOutsideOfThePool(const PodLook& pod) {
  if (!pod.pod) return false;
  const api::Qos qos = api::rawQos(pod.pod->meta.labels);
  return qos == api::Qos::kBe || hasOwnCpus(qos);
}

PoolState wholeState(const Situation& now) {
  std::vector<PoolPod> pods;
  for (const PodLook& pod : now.look.pods)
    if (isOutsideOfThePool(pod)) pods.push_back({pod.pod.get(), podUsage(now.look, pod)});
  return sharePoolState(now.look.machine->cpus().cpus.size(), pods, nodeUsage(now.look),
                        thresholdOf(now));
}

CpuSet cpusOf(const Situation& now, std::string_view cgroup) {
  const auto value = now.present.present(cgroup, kCpusFile);
  return value ? value->cpus : CpuSet();
}

// Empty where there is one NUMA node, or nodes are not measured.
std::vector<NumaPool> poolsOf(const Situation& now) {
  std::map<int, double> used;
  for (const NumaLook& one : now.look.node.numa)
    if (const auto cores = zoneUsage(now.look, one)) used[one.node] = *cores;
  if (used.size() < 2) return {};
  const kernel::CgroupLayout& layout = now.look.machine->layout();
  const CpuSet batch = cpusOf(now, layout.tierDir(kernel::PodTier::kBestEffort));
  std::vector<PoolUser> users;
  for (const PodLook& pod : now.look.pods) {
    if (!isOutsideOfThePool(pod)) continue;
    const bool isBatch = api::rawQos(pod.pod->meta.labels) == api::Qos::kBe;
    users.push_back(
        {pod.pod.get(), podUsage(now.look, pod), isBatch ? batch : saidBy(pod)->ownCpus});
  }
  return numaPools(now.look.machine->cpus().cpus, used, users);
}

}  // namespace

StrategyInfo CpuBurst::info() const {
  return {.name = owner::kCpuBurst, .gate = "CPUBurst", .period = std::chrono::seconds(1)};
}

Wishes CpuBurst::decide(const Situation& now) {
  if (!now.look.slo || !now.look.slo->cpuBurstStrategy)
    return Wishes::holding("no burst strategy in the NodeSLO");
  Wishes out;
  Tick tick{now, now.gates.on(gate::kSteadyBurst), wholeState(now)};
  if (tick.steady) judgeEach(tick);
  out.note = fmt::format("share pool {}", poolStateName(tick.whole));
  for (const PodLook& one : now.look.pods)
    if (isConcerned(one)) pod(tick, one, out);
  forget(now.look.at);
  return out;
}

PoolState CpuBurst::Tick::of(const ContainerLook& container) const {
  const auto found = states.find(container.serial);
  return found == states.end() ? whole : found->second;
}

bool CpuBurst::isBoosted(const ContainerLook& container, MilliCpu limit) const {
  const auto found = tracks_.find(container.serial);
  return found != tracks_.end() && found->second.quota > quotaBase(limit);
}

// By the NUMA nodes a container may use; and who gives back when they are overloaded.
void CpuBurst::judgeEach(Tick& tick) const {
  const Situation& now = tick.now;
  const std::vector<NumaPool> pools = poolsOf(now);
  const kernel::CpuTopology& cpus = now.look.machine->cpus();
  std::vector<PoolMember> members;
  std::vector<uint64_t> serials;
  for (const PodLook& pod : now.look.pods) {
    if (!isConcerned(pod)) continue;
    if (!scalesQuota(burstConfigOf(saidBy(pod)->burst, *now.look.slo->cpuBurstStrategy))) continue;
    for (const ContainerLook& one : pod.containers) {
      const MilliCpu limit = limitOf(*pod.pod, one.name);
      if (one.name.empty() || limit.v <= 0) continue;
      const NodeMask nodes = nodesOf(cpus.cpus, pools.empty() ? CpuSet() : cpusOf(now, one.cgroup));
      const PoolState state = poolStateOf(pools, nodes, thresholdOf(now));
      members.push_back({shrinkOrder(*pod.pod), nodes, pools.empty() ? tick.whole : state,
                         isBoosted(one, limit)});
      serials.push_back(one.serial);
    }
  }
  const std::vector<PoolState> states = inShrinkOrder(members);
  for (size_t i = 0; i < serials.size(); ++i) tick.states[serials[i]] = states[i];
}

void CpuBurst::pod(const Tick& tick, const PodLook& pod, Wishes& out) {
  const Situation& now = tick.now;
  const api::CpuBurstConfig config =
      burstConfigOf(saidBy(pod)->burst, *now.look.slo->cpuBurstStrategy);
  const bool canSave = now.look.machine->can().has(kernel::Feature::kCfsBurst);
  int64_t bursts = 0, quotas = 0;
  for (const ContainerLook& container : pod.containers) {
    if (container.name.empty()) continue;
    const MilliCpu limit = limitOf(*pod.pod, container.name);
    if (limit.v <= 0) continue;
    const std::string cgroup(container.cgroup);
    if (canSave && savesUp(config)) {
      bursts += staticBurst(limit, config);
      out.base(cgroup, kBurstFile, FileValue::of(staticBurst(limit, config)),
               "saved up while idle");
    }
    if (!scalesQuota(config)) continue;
    const int64_t quota = quotaOf(tick, container, limit, config);
    quotas += quota;
    out.base(cgroup, kQuotaFile, FileValue::of(quota),
             fmt::format("limit {}m, share pool {}", limit.v, poolStateName(tick.of(container))));
  }
  const std::string cgroup(pod.cgroup);
  if (bursts > 0) out.base(cgroup, kBurstFile, FileValue::of(bursts), "sum of the containers");
  const auto absent = quotas > 0 ? quotaOfAbsent(pod) : std::nullopt;
  // A limit that the pod itself has stays, whatever its containers are lent.
  const bool hasOwn = pod.pod->spec->podLimits.has(api::resource::kCpu);
  if (!absent || hasOwn || !hasLimit(now, pod)) return;
  // Init containers may have asked for more than all others together.
  const int64_t least = quotaBase(api::podLimits(*pod.pod->spec).cpu());
  out.base(cgroup, kQuotaFile, FileValue::of(std::max(quotas + *absent, least)),
           "sum of the containers");
}

int64_t CpuBurst::quotaOf(const Tick& tick, const ContainerLook& container, MilliCpu limit,
                          const api::CpuBurstConfig& config) {
  const MonoTime at = tick.now.look.at;
  Track& track = tracks_[container.serial];
  if (track.quota == 0) {
    const auto present = tick.now.present.present(container.cgroup, kQuotaFile);
    track.quota = present && present->number != kUnlimited ? present->number : quotaBase(limit);
    track.throttledAt = at;
  }
  track.usedAt = at;
  if (container.throttled.value_or(0) > 0) track.throttledAt = at;
  if (container.periods) track.window.add(at, *container.periods);
  BurstRound round;
  round.node = tick.of(container);
  round.scales = true;
  round.allowed = isAllowed(track, at, container, limit, config);
  round.throttled = container.throttled;
  if (tick.steady && container.throttled) round.throttled = track.window.isShort(at) ? 1 : 0;
  if (config.cfsQuotaBurstPercent) round.burstPercent = config.cfsQuotaBurstPercent->v;
  const int64_t before = track.quota;
  track.quota = nextQuota(before, limit, round);
  if (track.quota > before) track.window.clear();
  if (tick.steady) track.quota = decayedQuota(track.quota, limit, at - track.throttledAt);
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
