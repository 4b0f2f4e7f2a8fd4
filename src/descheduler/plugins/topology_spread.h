#pragma once
// RemovePodsViolatingTopologySpreadConstraint: domains that came to differ by more than a constraint
// allows give pods to the emptier ones, no more than it takes.
//
//   movesToBalance({5, 0}, 1);    // {{.from = 0, .to = 1, .pods = 2}}

#include <cstddef>
#include <cstdint>
#include <vector>

#include "descheduler/plugins/ported.h"

namespace mangrove::descheduler {

// From a fuller domain to an emptier one, as indexes of the list that was given.
struct Move {
  size_t from = 0;
  size_t to = 0;
  size_t pods = 0;
  bool operator==(const Move&) const = default;
};
// The fullest gives to the emptiest, one by one, until no two differ by more than maxSkew. Ties are
// broken by the order of the list.
std::vector<Move> movesToBalance(std::vector<size_t> sizes, int64_t maxSkew);

struct TopologySpreadArgs {
  PodScope scope;
  bool hard = true;     // constraints: DoNotSchedule
  bool soft = false;    // constraints: ScheduleAnyway
  bool nodeFit = true;  // topologyBalanceNodeFit: only who fits into an emptier domain
};
Result<TopologySpreadArgs> readTopologySpreadArgs(const json::Value& args);

class ViolatingTopologySpread final : public Plugin {
 public:
  static constexpr std::string_view kName = "RemovePodsViolatingTopologySpreadConstraint";
  explicit ViolatingTopologySpread(TopologySpreadArgs args) : args_(std::move(args)) {}
  std::string_view name() const override { return kName; }
  Result<> run(Round& round) override;

 private:
  TopologySpreadArgs args_;
};

}  // namespace mangrove::descheduler
