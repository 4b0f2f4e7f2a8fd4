#pragma once
// Block I/O limits and weights: of the best-effort group, of pods with an annotation, and the cost
// model at the root of the tree; blkio files under v1, io files under v2, there io.latency of
// services where the kernel has no cost model. Lines: lines.h.

#include "agent/qos/strategy.h"

namespace mangrove::agent {

class Blkio final : public Strategy {
 public:
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;
};

// The number of the disk a setting is about ("8:0"). Errors name what is missing.
Result<std::string> diskOf(const api::BlockConfig& block, const kernel::BlockDevices& devices,
                           std::string_view podUid);

}  // namespace mangrove::agent
