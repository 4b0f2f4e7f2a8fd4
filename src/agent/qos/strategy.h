#pragma once
// How a strategy is made: one pure decision per tick, from what was measured to what is wanted. It
// reads no files (what the machine has it asks the tick's picture), asks no clock and writes
// nothing; the enforcer hands its wishes to the executor.
//
//   class Mine final : public Strategy {
//     StrategyInfo info() const override { return {.name = "mine", .gate = "Mine"}; }
//     Wishes decide(const Situation& now) override;
//   };
//
// Owner thread only.

#include <span>
#include <string_view>

#include "agent/executor/wish.h"
#include "agent/look.h"
#include "agent/qos/picture.h"
#include "api/object/node.h"
#include "base/feature_gates.h"
#include "json/value.h"

namespace mangrove::agent {

struct StrategyInfo {
  std::string_view name;       // in audit, metrics and `explain`
  std::string_view gate = {};  // "": always on; one that gates.cc does not know is off by default
  Duration period = {};        // zero: at every tick
  // Decides for best-effort work as a whole and goes on while the pods are not known; the others
  // would take an agent that has just started for a machine without pods.
  bool ofTheGroup = false;
  // Control files that it wants, where value.cc does not rank it among their owners; of two bases
  // those of the ranked count. Literals.
  std::span<const std::string_view> files = {};
};

// Everything a decision may look at.
struct Situation {
  const Look& look;
  const api::Node* node = nullptr;             // null: not seen yet
  const api::Annotations* topology = nullptr;  // of the NodeResourceTopology; null: not seen yet
  const PresentValues& present;  // the picture: one read of a file a tick, for everybody
  const FeatureGates& gates;
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual StrategyInfo info() const = 0;
  virtual Wishes decide(const Situation& now) = 0;
  // An eviction it wished for is on its way: not in a dry run, not over the budget.
  virtual void sent(const Ousting&, MonoTime) {}
  // What a restarted agent needs to go on where this one stopped.
  virtual json::Value state() const { return nullptr; }
  virtual void restore(const json::Value&) {}
};

// Does nothing: what the machinery itself costs.
class NullStrategy final : public Strategy {
 public:
  StrategyInfo info() const override { return {.name = "null"}; }
  Wishes decide(const Situation&) override { return {}; }
};

}  // namespace mangrove::agent
