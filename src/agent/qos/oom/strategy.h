#pragma once
// Who goes first when the kernel must kill: oom_score_adj of containers by their pods' annotations,
// and best-effort pods first of all where colocation is on. Without CAP_SYS_RESOURCE scores are
// only raised, because the kernel allows nothing else.

#include <set>
#include <string>

#include "agent/qos/strategy.h"

namespace mangrove::agent {

class OomScore final : public Strategy {
 public:
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;

 private:
  std::set<std::string> ours_;  // files that had another value when we came
};

// From /proc/self/status: the effective set.
bool hasCapability(std::string_view status, int number);
// What to write; nullopt: nothing (as it is, or lower and not permitted).
std::optional<int64_t> scoreFor(std::optional<int64_t> present, int64_t wanted, bool mayLower);

}  // namespace mangrove::agent
