#pragma once
// The start-up settings of pods and containers, kept by looking again at every tick: CPUs, batch
// limits, group identity, normalised quotas. The same rules serve a runtime's hooks.
//
// Each is a Strategy of its own, owner thread only.

#include <optional>

#include "agent/hooks/batch_resource.h"
#include "agent/qos/strategy.h"

namespace mangrove::agent {

// How much faster this machine is than the one limits were written for; nullopt: nobody says.
std::optional<double> normalizationRatio(const api::Node* node);
BatchRule batchRuleOf(const Situation& now);
// CPUs that pods have to themselves, as of now: the published pools follow some seconds later.
CpuSet ownedCpus(const Look& look);

// CPUs by class and by the scheduler's decision; pods with CPUs of their own lose their quota.
class CpusetHook final : public Strategy {
 public:
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;
};

// Shares, quota and memory limit of best-effort pods from their batch requests.
class BatchResourceHook final : public Strategy {
 public:
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;
};

// cpu.bvt_warp_ns, where the kernel has it; elsewhere the idle class and weights stand in.
class GroupIdentityHook final : public Strategy {
 public:
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;
};

// Quotas of services on faster machines: the same work in less time.
class NormalizationHook final : public Strategy {
 public:
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;
};

}  // namespace mangrove::agent
