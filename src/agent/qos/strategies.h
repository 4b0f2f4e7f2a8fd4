#pragma once
// Declares the function that makes each strategy of strategies.def. A strategy's own file defines its
// function; null means that the options switch it off.
//
//   std::unique_ptr<Strategy> strategies::capBatch(const StrategyOptions&) {
//     return std::make_unique<CapBatch>();
//   }

#include <memory>

#include "agent/qos/strategy_list.h"

namespace mangrove::agent::strategies {

#define STRATEGY(name) std::unique_ptr<Strategy> name(const StrategyOptions& options);
#include "agent/qos/strategies.def"
#undef STRATEGY

}  // namespace mangrove::agent::strategies
