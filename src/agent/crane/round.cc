#include "agent/crane/round.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "victims/order.h"

namespace mangrove::agent::crane {
namespace {

constexpr double kManyCores = 60;  // without any limit a quota of more than that is none
constexpr MetricInfo kMetrics[] = {
    {"cpu_total_usage", Dimension::kCpu, false},
    {"cpu_total_utilization", Dimension::kCpu, true},
    {"memory_total_usage", Dimension::kMemory, false},
    {"memory_total_utilization", Dimension::kMemory, true},
    {"cpu_load_1_min"},
    {"cpu_load_5_min"},
    {"cpu_load_15_min"},
    {"container_sched_run_queue_time"},
    {"ext_cpu_total_distribute"},
    {"psi_cpu_some_avg10"},
    {"psi_memory_some_avg10"},
    {"psi_memory_full_avg10"},
    {"psi_io_some_avg10"},
    {"psi_io_full_avg10"},
};

double usageOf(const PodFacts& pod, Dimension dimension) {
  return dimension == Dimension::kMemory ? pod.memory : pod.cpu;
}

double fillOf(const PodFacts& pod, Dimension dimension) {
  const double limit = dimension == Dimension::kMemory ? pod.elasticMemory : pod.elasticCpu;
  return limit > 0 ? usageOf(pod, dimension) / limit : 0;
}

// In the unit of a gap.
double frees(const PodFacts& pod, Dimension dimension) {
  return dimension == Dimension::kMemory ? pod.memory : pod.cpu * 1000;
}

int rankOf(api::KubeQos qos) {
  if (qos == api::KubeQos::kBestEffort) return 0;
  return qos == api::KubeQos::kBurstable ? 1 : 2;
}

bool comesBefore(const PodFacts& a, const PodFacts& b, Dimension dimension) {
  const bool measured = dimension != Dimension::kNone;
  if (measured && a.elastic != b.elastic) return a.elastic;
  if (a.priority != b.priority) return a.priority < b.priority;
  if (rankOf(a.qos) != rankOf(b.qos)) return rankOf(a.qos) < rankOf(b.qos);
  if (measured && usageOf(a, dimension) != usageOf(b, dimension))
    return usageOf(a, dimension) > usageOf(b, dimension);
  if (measured && fillOf(a, dimension) != fillOf(b, dimension))
    return fillOf(a, dimension) > fillOf(b, dimension);
  if (a.running != b.running) return a.running < b.running;
  return a.uid < b.uid;
}

bool allows(const PodFacts& pod, const std::string& action) {
  return std::find(pod.allowed.begin(), pod.allowed.end(), action) != pod.allowed.end();
}

// What the rules say about one pod, duplicates merged: the larger ratios, the shorter grace.
struct Merged {
  std::optional<api::CpuThrottleSpec> cpu;
  bool forceGc = false;
  bool evict = false;
  std::optional<int64_t> grace;
  std::string why;
};

void mergeThrottle(const api::ThrottleSpec& said, Merged& out) {
  out.forceGc = out.forceGc || (said.memory && said.memory->forceGc);
  if (!said.cpu) return;
  if (!out.cpu) out.cpu = said.cpu;
  out.cpu->minCpuRatio = std::max(out.cpu->minCpuRatio, said.cpu->minCpuRatio);
  out.cpu->stepCpuRatio = std::max(out.cpu->stepCpuRatio, said.cpu->stepCpuRatio);
}

void mergeEviction(const api::EvictionSpec& said, Merged& out) {
  out.evict = true;
  if (said.gracePeriodSeconds)
    out.grace =
        out.grace ? std::min(*out.grace, *said.gracePeriodSeconds) : *said.gracePeriodSeconds;
}

Merged mergedFor(const PodFacts& pod, std::span<const Triggered> rules) {
  Merged out;
  for (const Triggered& rule : rules) {
    if (!rule.spec || !allows(pod, rule.action)) continue;
    if (rule.spec->throttle) mergeThrottle(*rule.spec->throttle, out);
    if (rule.spec->eviction) mergeEviction(*rule.spec->eviction, out);
    out.why += fmt::format("{}{}: {} is over {:g}", out.why.empty() ? "" : "; ", rule.key,
                           rule.metric, rule.watermark);
  }
  return out;
}

// Of several rules on one metric the smallest watermark counts, of several metrics of one dimension
// the largest gap.
struct Gaps {
  bool known = true;  // false: some metric cannot be turned into an amount
  std::map<Dimension, double> of;
};

Gaps gapsOf(const Round& round, bool (*concerns)(const api::AvoidanceActionSpec&)) {
  Gaps out;
  for (const Triggered& rule : round.triggered) {
    if (!rule.spec || !concerns(*rule.spec)) continue;
    const MetricInfo* metric = metricNamed(rule.metric);
    if (!metric || metric->dimension == Dimension::kNone || !rule.observed) {
      out.known = false;
      continue;
    }
    const double gap = gapOf(*metric, *rule.observed, rule.watermark, round.capacity, round.excess);
    double& most = out.of[metric->dimension];
    most = std::max(most, gap);
  }
  return out;
}

bool throttles(const api::AvoidanceActionSpec& spec) {
  return spec.throttle.has_value();
}
bool evicts(const api::AvoidanceActionSpec& spec) {
  return spec.eviction.has_value();
}

// Returns the milli-cores released.
double throttlePod(const PodFacts& pod, const Merged& merged, Plan& plan) {
  double released = 0;
  for (const Container& one : pod.containers) {
    const Cut cut = throttled(one, *merged.cpu);
    if (one.quota && *one.quota == cut.cores) continue;
    plan.throttles.push_back({pod.uid, one.id, cut.cores, cut.released * 1000, false, merged.why});
    released += cut.released * 1000;
  }
  return released;
}

// What each dimension's gap was made smaller by.
std::map<Dimension, double> throttleAll(const Round& round, Plan& plan) {
  std::map<Dimension, double> released;
  const Gaps gaps = gapsOf(round, throttles);
  const auto cpuGap = gaps.of.find(Dimension::kCpu);
  double gap = cpuGap == gaps.of.end() ? 0 : cpuGap->second;
  for (const PodFacts* pod : ordered(round.pods, gaps.known ? Dimension::kCpu : Dimension::kNone)) {
    const Merged merged = mergedFor(*pod, round.triggered);
    if (merged.forceGc && (!gaps.known || gaps.of.count(Dimension::kMemory) != 0))
      plan.dropCaches.push_back(pod->uid);
    if (!merged.cpu || (gaps.known && gap <= 0)) continue;
    const double less = throttlePod(*pod, merged, plan);
    released[Dimension::kCpu] += less;
    gap -= less;
  }
  return released;
}

bool goes(const Plan& plan, const PodFacts& pod) {
  return std::any_of(plan.evictions.begin(), plan.evictions.end(),
                     [&](const Evict& one) { return one.uid == pod.uid; });
}

constexpr int kNotElastic = 1'000'000'000;  // ranks beyond all others

// By the one order. An unknown gap (kNone) has everybody in it, one after the other, up to the most.
void evictByLoss(const Round& round, Dimension dimension, double gap, Plan& plan) {
  const bool known = dimension != Dimension::kNone;
  std::vector<const PodFacts*> asked;
  std::vector<victims::Candidate> candidates;
  for (const PodFacts& pod : round.pods) {
    if (!mergedFor(pod, round.triggered).evict) continue;
    if (goes(plan, pod)) {
      gap -= frees(pod, dimension);
      continue;
    }
    asked.push_back(&pod);
    candidates.push_back(pod.stake);
    if (!pod.elastic) candidates.back().rank += kNotElastic;
    candidates.back().frees = {frees(pod, dimension)};
  }
  if (known && gap <= 0) return;
  victims::Request request{.evenIfShort = true, .now = round.now};
  if (known) request.need = {gap};
  for (const victims::Leaver& leaver : victims::chooseVictims(candidates, request).leavers) {
    if (!known && plan.evictions.size() >= round.mostEvictions) return;
    const bool helps = std::any_of(leaver.members.begin(), leaver.members.end(),
                                   [&](size_t i) { return candidates[i].frees[0] > 0; });
    if (known && !helps) continue;  // where even all are too little
    for (const size_t i : leaver.members) {
      const Merged merged = mergedFor(*asked[i], round.triggered);
      plan.evictions.push_back({asked[i]->uid, merged.grace,
                                known ? frees(*asked[i], dimension) : 0,
                                merged.why + "; " + victims::sentence(leaver)});
    }
  }
}

void evictFor(const Round& round, Dimension dimension, double gap, Plan& plan) {
  if (round.leastLoss) return evictByLoss(round, dimension, gap, plan);
  for (const PodFacts* pod : ordered(round.pods, dimension)) {
    if (gap <= 0) return;
    const Merged merged = mergedFor(*pod, round.triggered);
    if (!merged.evict) continue;
    gap -= frees(*pod, dimension);
    if (!goes(plan, *pod))
      plan.evictions.push_back({pod->uid, merged.grace, frees(*pod, dimension), merged.why});
  }
}

void evictSome(const Round& round, Plan& plan) {
  if (round.leastLoss) return evictByLoss(round, Dimension::kNone, 0, plan);
  for (const PodFacts* pod : ordered(round.pods, Dimension::kNone)) {
    if (plan.evictions.size() >= round.mostEvictions) return;
    const Merged merged = mergedFor(*pod, round.triggered);
    if (merged.evict) plan.evictions.push_back({pod->uid, merged.grace, 0, merged.why});
  }
}

void evictAll(const Round& round, const std::map<Dimension, double>& released, Plan& plan) {
  const Gaps gaps = gapsOf(round, evicts);
  if (!gaps.known) return evictSome(round, plan);
  for (const auto& [dimension, gap] : gaps.of) {
    const auto less = released.find(dimension);
    evictFor(round, dimension, gap - (less == released.end() ? 0 : less->second), plan);
  }
}

// A pod that some rule still wants slow is not made faster by another that is over.
void restoreAll(const Round& round, Plan& plan) {
  for (const PodFacts& pod : round.pods) {
    const Merged merged = mergedFor(pod, round.restored);
    if (!merged.cpu || mergedFor(pod, round.triggered).cpu) continue;
    for (const Container& one : pod.containers)
      if (const auto cores = restored(one, *merged.cpu))
        plan.throttles.push_back({pod.uid, one.id, *cores, 0, true, "restored"});
  }
}

}  // namespace

const MetricInfo* metricNamed(std::string_view name) {
  const auto* found = std::find_if(std::begin(kMetrics), std::end(kMetrics),
                                   [&](const MetricInfo& one) { return one.name == name; });
  return found == std::end(kMetrics) ? nullptr : found;
}

bool isBlockOnly(std::string_view metric) {
  return metric == "ext_cpu_total_distribute";
}

double gapOf(const MetricInfo& metric, double used, double watermark, const Capacity& capacity,
             double excess) {
  const double gap = (1 + excess) * (used - watermark);
  if (!metric.isPercent) return gap;
  const double whole =
      metric.dimension == Dimension::kMemory ? capacity.bytes : capacity.cores * 1000;
  return gap / 100 * whole;
}

Cut throttled(const Container& one, const api::CpuThrottleSpec& how) {
  const double base = one.quota ? *one.quota : one.usage;
  const double cores = std::max(
      {base * (1 - how.stepCpuRatio / 100.0), one.request, one.limit * how.minCpuRatio / 100.0});
  return {cores, std::max(0.0, one.usage - cores)};
}

std::optional<double> restored(const Container& one, const api::CpuThrottleSpec& how) {
  if (!one.quota) return std::nullopt;
  if (one.elasticLimit) return *one.elasticLimit;
  const double cores = *one.quota * (1 + how.stepCpuRatio / 100.0);
  if (one.limit > 0) return std::min(cores, one.limit);
  return cores > kManyCores ? kNoQuota : cores;
}

std::vector<const PodFacts*> ordered(std::span<const PodFacts> pods, Dimension dimension) {
  std::vector<const PodFacts*> out;
  for (const PodFacts& pod : pods) out.push_back(&pod);
  std::sort(out.begin(), out.end(),
            [&](const PodFacts* a, const PodFacts* b) { return comesBefore(*a, *b, dimension); });
  return out;
}

Plan planRound(const Round& round) {
  Plan plan;
  if (round.parallel) evictAll(round, {}, plan);
  const auto released = throttleAll(round, plan);
  if (!round.parallel) evictAll(round, released, plan);
  restoreAll(round, plan);
  return plan;
}

}  // namespace mangrove::agent::crane
