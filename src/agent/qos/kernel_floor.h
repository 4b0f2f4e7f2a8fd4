#pragma once
// What the kernel itself does against micro-bursts, once told: best-effort work runs in the idle
// class, its disk requests weigh less, services' memory is reclaimed last (floor_memory.h). Only
// where the NodeSLO enables colocation, and never for BestEffort pods without the label, such as
// the system's own.
//
// Under a kubelet the class is set on pods, never on the QoS directory, where the kubelet's writes
// would then fail. It then counts among best-effort pods only: between them and services the
// directory's least weight decides. Whoever owns the directory (`mangrove up`) has the class set
// there while every pod in it is labelled: then services never wait for best-effort work.

#include "agent/qos/strategy.h"

namespace mangrove::agent {

// Where the idle class of best-effort work is set.
enum class FloorPlace : uint8_t { kNone, kPods, kGroup };

class KernelFloor final : public Strategy {
 public:
  explicit KernelFloor(bool ownsGroup = false) : ownsGroup_(ownsGroup) {}
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;

 private:
  bool ownsGroup_;
  bool wholeGroup_ = true;
};

// The file that weighs a group's disk requests under cgroup v2: of the cost model, or where the
// kernel has none of the bfq scheduler.
std::string_view weightFileV2(const Situation& now, std::string_view cgroup);

// What is in force now for everybody in the best-effort group.
FloorPlace floorInForce(const Situation& now);

}  // namespace mangrove::agent
