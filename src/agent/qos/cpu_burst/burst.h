#pragma once
// CPU burst: what a limited pod may save up (static burst), and when its quota may exceed its limit
// (quota burst). Pure functions, any thread.
//
//   CpuBurstConfig config = burstConfigOf(pod, nodeConfig);
//   staticBurst(limit, config)                           // microseconds, for cpu.cfs_burst_us
//   nextQuotas({…}, round)                               // one round of the state machine

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "api/koordinator/slo_strategy.h"
#include "api/pod/classes.h"
#include "api/pod/pod.h"
#include "base/number/units.h"

namespace mangrove::agent {

bool hasOwnCpus(api::Qos qos);  // LSE, LSR: outside of the share pool
// Pods whose CPUs are not their own and that are no batch work: LS, SYSTEM, unlabelled.
bool mayBurst(const api::Pod& pod);
// The node's configuration under what the pod's annotation says, member by member. An annotation
// that does not parse counts as absent.
api::CpuBurstConfig burstConfigOf(const api::Pod& pod, const api::CpuBurstConfig& node);
// The same with the pod's annotation, decoded already.
api::CpuBurstConfig burstConfigOf(const Result<std::optional<api::CpuBurstConfig>>& said,
                                  const api::CpuBurstConfig& node);

bool savesUp(const api::CpuBurstConfig& config);      // policy cpuBurstOnly or auto
bool scalesQuota(const api::CpuBurstConfig& config);  // policy cfsQuotaBurstOnly or auto

// Microseconds; 0 without a limit or when the policy says no.
int64_t staticBurst(MilliCpu limit, const api::CpuBurstConfig& config);

// How busy the CPUs are that services share.
enum class PoolState : uint8_t { kUnknown, kIdle, kCooling, kOverload };
std::string_view poolStateName(PoolState state);

struct PoolPod {
  const api::Pod* pod = nullptr;
  std::optional<double> usedCores;
};
// By the threshold; a pool without CPUs is overloaded.
PoolState poolState(double used, double total, int64_t thresholdPercent);
PoolState sharePoolState(size_t processors, std::span<const PoolPod> pods,
                         std::optional<double> nodeUsed, int64_t thresholdPercent);

// The target of the new system is in pools.h (a pool per NUMA node) and throttle_window.h.
//
// One container's quota from one round to the next, by the plain rule: up 1.2, down 0.8 within
// [base, base * percent].
struct BurstRound {
  PoolState node = PoolState::kUnknown;
  bool scales = false;                  // the policy allows quota burst
  bool allowed = true;                  // by the token limiter
  std::optional<double> throttled;      // share of the last periods; nullopt: not known
  std::optional<int64_t> burstPercent;  // of base
};
int64_t quotaBase(MilliCpu limit);  // 0: no limit, the container is left alone
int64_t nextQuota(int64_t present, MilliCpu limit, const BurstRound& round);

// The target of the new system: quick up, and slowly back once nothing is throttled.
struct DecayOptions {
  Duration quiet = std::chrono::seconds(10);
  double factor = 0.9;
};
int64_t decayedQuota(int64_t present, MilliCpu limit, Duration unthrottledFor,
                     const DecayOptions& options = {});

}  // namespace mangrove::agent
