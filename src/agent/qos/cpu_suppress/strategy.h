#pragma once
// Keeps best-effort CPU below the threshold of the NodeSLO, by quota or by cpuset, whichever policy
// it names; the other one is set free. Which CPUs and how much: budget.h, pick.h, quota.h.

#include <map>
#include <string>

#include "agent/qos/cpu_suppress/damper.h"
#include "agent/qos/cpu_suppress/inputs.h"
#include "agent/qos/strategy.h"

namespace mangrove::agent {

class CpuSuppress final : public Strategy {
 public:
  // Measurements missing for so long: the conservative limit.
  static constexpr Duration kBlind = std::chrono::seconds(10);

  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;

 private:
  Wishes weigh(const Situation& now, const api::ResourceThresholdStrategy& slo);
  Wishes blind(const Situation& now, const api::ResourceThresholdStrategy& slo);
  Wishes held(const Situation& now) const;
  void byQuota(const Situation& now, const SuppressInputs& in, Wishes& out);
  void byCpuset(const Situation& now, const SuppressInputs& in, Wishes& out);
  void recover(const Situation& now, bool containers, const std::string& why, Wishes& out) const;
  void recoverForCpuManager(const Situation& now, Wishes& out) const;
  CpuSet presentCpus(const Situation& now) const;
  const CpuHints& hints(const Situation& now, const CpuSet& present);

  SuppressPace pace_;
  CpuSet last_;  // under a static kubelet the groups do not show what we decided
  CpuHints hints_;
  std::map<int, kernel::InterruptTicks> interrupts_;  // as read last
  MonoTime hintsAt_ = MonoTime::min();
  MonoTime sighted_ = MonoTime::min();
  std::vector<Wish> decided_;  // when something was known last
};

}  // namespace mangrove::agent
