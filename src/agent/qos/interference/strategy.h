#pragma once
// interference: which services suffer from offline pods, who of these is the cause by experiment, and
// the ladder of steps against it (agent/interference). Gates say how far it goes:
// InterferenceGaussian, InterferenceCPI2 and InterferencePSI look and report, CausalCheck tries,
// MitigationLadder acts. The node's InterferencePolicy comes with its NodeSLO.

#include <memory>
#include <string>

#include "agent/qos/evict/lately.h"
#include "agent/qos/interference/board.h"
#include "agent/qos/interference/senses.h"
#include "agent/qos/strategy.h"
#include "api/interference/policy.h"

namespace mangrove::agent {

// What gates and policy allow. Pure.
interference::Switches switchesOf(const FeatureGates& gates,
                                  const api::InterferencePolicySpec& policy);

class Interference final : public Strategy {
 public:
  static constexpr Duration kKeepBook = std::chrono::minutes(10);

  Interference(std::shared_ptr<InterferenceBoard> board, std::shared_ptr<EvictedLately> lately)
      : board_(std::move(board)), lately_(std::move(lately)) {}
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;
  void sent(const Ousting& one, MonoTime at) override;
  json::Value state() const override;
  void restore(const json::Value& state) override;

 private:
  api::InterferencePolicySpec policyOf(const Situation& now);
  void capPods(const Situation& now, const interference::Orders& orders, Wishes& out);
  void holdMemory(const Situation& now, const interference::Orders& orders, Wishes& out);
  void holdSiblings(const Situation& now, const interference::Orders& orders, Wishes& out);
  interference::Means meansOf(const Situation& now);
  void tell(const Situation& now, const interference::Scene& scene,
            const interference::Orders& orders);
  void rest();
  void evict(const Situation& now, const interference::Orders& orders, Wishes& out);
  void keepBook(WallTime now);

  std::shared_ptr<InterferenceBoard> board_;
  std::shared_ptr<EvictedLately> lately_;
  interference::Episodes episodes_;
  Senses senses_;
  std::map<std::string, int64_t> memoryFrom_;         // bytes of each pod when it was first held
  std::map<std::string, CpuSet> cpusFrom_;            // of each cgroup when it was first held
  std::map<interference::Rung, std::string> absent_;  // steps that this machine has not
  MonoTime meansAt_ = MonoTime::min();
  std::string policyText_, policyTrouble_;
  api::InterferencePolicySpec policy_;
  std::string bookText_;
  WallTime bookAt_{};
};

}  // namespace mangrove::agent
