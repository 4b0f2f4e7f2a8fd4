#pragma once
// crane: watermarks of NodeQOS and what its AvoidanceActions do about them, every ten seconds. The
// rules come with the node's NodeSLO; agent/crane decides, this gathers and wishes.

#include <map>
#include <memory>
#include <string>

#include "agent/crane/round.h"
#include "agent/crane/watch.h"
#include "agent/qos/evict/lately.h"
#include "agent/qos/interference/board.h"
#include "agent/qos/strategy.h"
#include "api/crane/ensurance.h"

namespace mangrove::agent {

class CraneQos final : public Strategy {
 public:
  CraneQos(std::shared_ptr<InterferenceBoard> board, std::shared_ptr<EvictedLately> lately)
      : board_(std::move(board)), lately_(std::move(lately)) {}
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;
  void sent(const Ousting& one, MonoTime at) override;
  json::Value state() const override;
  void restore(const json::Value& state) override;

 private:
  void readRules(const Situation& now);
  std::optional<double> valueOf(const Situation& now, std::string_view metric) const;
  void sample(const Situation& now, crane::Round& acts, crane::Round& previews,
              std::vector<crane::RulePhase>& phases);
  std::vector<crane::PodFacts> podsOf(const Situation& now) const;
  void keep(const Situation& now, const crane::Plan& plan);
  void preview(const Situation& now, const crane::Plan& plan);
  void wish(const Situation& now, const crane::Plan& plan, Wishes& out);

  std::shared_ptr<InterferenceBoard> board_;
  std::shared_ptr<EvictedLately> lately_;
  std::string text_, trouble_;
  WallTime wall_{};  // of the last look
  api::CraneRules rules_;
  std::map<std::string, crane::RuleWatch> watches_;
  crane::SchedulingBlock block_;
  struct Held {
    double cores = 0;
    std::string why;
  };
  std::map<std::string, Held> held_;  // by the container's cgroup
};

}  // namespace mangrove::agent
