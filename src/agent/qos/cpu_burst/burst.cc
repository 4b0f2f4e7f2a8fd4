#include "agent/qos/cpu_burst/burst.h"

#include <algorithm>

#include "api/annotations/qos.h"
#include "api/pod/classes.h"
#include "api/pod/pod_requests.h"
#include "kernel/cpu_units.h"

namespace mangrove::agent {
namespace {

using api::Qos;

constexpr auto kPeriod = static_cast<double>(kernel::kCfsPeriodUs);
constexpr double kRise = 1.2;
constexpr double kFall = 0.8;
constexpr double kCoolingFrom = 0.9;  // of the threshold

enum class Step : uint8_t { kRemain, kUp, kDown, kReset };

Step wishedStep(const BurstRound& round) {
  if (!round.scales) return Step::kReset;
  if (!round.allowed) return Step::kDown;
  return round.throttled && *round.throttled > 0 ? Step::kUp : Step::kRemain;
}

Step allowedStep(Step step, PoolState node) {
  if (step == Step::kReset || step == Step::kDown) return step;
  if (node == PoolState::kOverload) return Step::kDown;
  return node == PoolState::kIdle ? step : Step::kRemain;
}

}  // namespace

bool hasOwnCpus(Qos qos) {
  return qos == Qos::kLse || qos == Qos::kLsr;
}

bool mayBurst(const api::Pod& pod) {
  const Qos qos = api::rawQos(pod.meta.labels);
  return !hasOwnCpus(qos) && qos != Qos::kBe;
}

api::CpuBurstConfig burstConfigOf(const api::Pod& pod, const api::CpuBurstConfig& node) {
  return burstConfigOf(api::parseCpuBurst(pod.meta.annotations), node);
}

api::CpuBurstConfig burstConfigOf(const Result<std::optional<api::CpuBurstConfig>>& said,
                                  const api::CpuBurstConfig& node) {
  api::CpuBurstConfig out = node;
  if (!said || !*said) return out;
  if (!(*said)->policy.empty()) out.policy = (*said)->policy;
  if ((*said)->cpuBurstPercent) out.cpuBurstPercent = (*said)->cpuBurstPercent;
  if ((*said)->cfsQuotaBurstPercent) out.cfsQuotaBurstPercent = (*said)->cfsQuotaBurstPercent;
  if ((*said)->cfsQuotaBurstPeriodSeconds)
    out.cfsQuotaBurstPeriodSeconds = (*said)->cfsQuotaBurstPeriodSeconds;
  return out;
}

bool savesUp(const api::CpuBurstConfig& config) {
  return config.policy == "cpuBurstOnly" || config.policy == "auto";
}

bool scalesQuota(const api::CpuBurstConfig& config) {
  return config.policy == "cfsQuotaBurstOnly" || config.policy == "auto";
}

int64_t staticBurst(MilliCpu limit, const api::CpuBurstConfig& config) {
  if (limit.v <= 0 || !savesUp(config)) return 0;
  const double cores = static_cast<double>(limit.v) / 1000;
  const double share = static_cast<double>(config.cpuBurstPercent.value_or(Percent{0}).v) / 100;
  // In this order: others differ by one.
  return static_cast<int64_t>(cores * share * kPeriod);
}

std::string_view poolStateName(PoolState state) {
  constexpr std::string_view kNames[] = {"unknown", "idle", "cooling", "overload"};
  return kNames[static_cast<size_t>(state)];
}

PoolState poolState(double used, double total, int64_t thresholdPercent) {
  const double ratio = total > 0 ? used / total : 1.0;
  const double threshold = static_cast<double>(thresholdPercent) / 100;
  if (ratio >= threshold) return PoolState::kOverload;
  return ratio >= threshold * kCoolingFrom ? PoolState::kCooling : PoolState::kIdle;
}

PoolState sharePoolState(size_t processors, std::span<const PoolPod> pods,
                         std::optional<double> nodeUsed, int64_t thresholdPercent) {
  if (!nodeUsed || processors == 0) return PoolState::kUnknown;
  double total = static_cast<double>(processors);
  double used = *nodeUsed;
  for (const PoolPod& one : pods) {
    const Qos qos = api::rawQos(one.pod->meta.labels);
    if (hasOwnCpus(qos)) total -= static_cast<double>(api::podRequests(*one.pod).cpu().v) / 1000;
    if (hasOwnCpus(qos) || qos == Qos::kBe) used -= one.usedCores.value_or(0);
  }
  return poolState(used, total, thresholdPercent);
}

int64_t quotaBase(MilliCpu limit) {
  return limit.v <= 0 ? 0 : kernel::quotaOf(limit).us();
}

int64_t nextQuota(int64_t present, MilliCpu limit, const BurstRound& round) {
  const int64_t base = quotaBase(limit);
  if (base == 0) return present;
  int64_t ceiling = base;
  if (round.burstPercent.value_or(0) > 100)
    ceiling = static_cast<int64_t>(static_cast<double>(base) *
                                   static_cast<double>(*round.burstPercent) / 100);
  int64_t target = present;
  switch (allowedStep(wishedStep(round), round.node)) {
    case Step::kUp:
      target = static_cast<int64_t>(static_cast<double>(present) * kRise);
      break;
    case Step::kDown:
      target = static_cast<int64_t>(static_cast<double>(present) * kFall);
      break;
    case Step::kReset:
      target = base;
      break;
    case Step::kRemain:
      break;
  }
  return std::clamp(target, base, ceiling);
}

int64_t decayedQuota(int64_t present, MilliCpu limit, Duration unthrottledFor,
                     const DecayOptions& options) {
  const int64_t base = quotaBase(limit);
  if (base == 0 || present <= base || unthrottledFor < options.quiet) return present;
  return std::max(base, static_cast<int64_t>(static_cast<double>(present) * options.factor));
}

}  // namespace mangrove::agent
