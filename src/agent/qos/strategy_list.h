#pragma once
// All strategies, in the order in which they are asked. A new one is its own folder and one line in
// strategies.def: its name, gate, period and files are what its info() says, its switch is the gate,
// and a test checks that names are unique and that no rule names an owner that is not here.
//
//   Enforcer enforcer(setup, options, defaultStrategies());

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/qos/evict/lately.h"
#include "agent/qos/strategy.h"
#include "base/result.h"

namespace mangrove::agent {

struct InterferenceBoard;

struct StrategyOptions {
  // Shared with whoever learns that an eviction was refused; null: made.
  std::shared_ptr<EvictedLately> lately = {};
  // What there is to tell of interference; null: nobody is told.
  std::shared_ptr<InterferenceBoard> interference = {};
  EvictorOptions memoryEvict = {std::chrono::seconds(4), false};
  EvictorOptions cpuEvict = {std::chrono::seconds(20), true};
  // No kubelet writes to the best-effort directory: the idle class may be set there.
  bool ownsGroup = false;
};

// Null: these options switch it off.
using MakeStrategy = std::unique_ptr<Strategy> (*)(const StrategyOptions& options);
std::span<const MakeStrategy> strategyList();

// One of each.
std::vector<std::unique_ptr<Strategy>> defaultStrategies(StrategyOptions options = {});

// "mine=true,cpu-burst=false" as settings of their gates: "Mine=true,CPUBurst=false". A name that is none,
// or one without a switch, is an error that says which there are.
Result<std::string> gatesOfStrategies(std::string_view named);

}  // namespace mangrove::agent
