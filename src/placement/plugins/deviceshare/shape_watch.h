#pragma once
// The shapes of pods that a profile has seen lately, as its scores use them: what is counted is shown
// in steps, so that answers about nodes can be remembered in between.
//
// Owner thread only.

#include "placement/device/fragments.h"
#include "placement/plugins/deviceshare/device_plan.h"

namespace mangrove::placement {

class ShapeWatch {
 public:
  void saw(const DevicePlan& pod, int64_t milliCpu);
  const SeenShapes& lately() const { return lately_; }
  uint64_t generation() const { return generation_; }

 private:
  static constexpr int64_t kStep = 256;

  SeenShapes seen_, lately_;
  int64_t since_ = 0;
  uint64_t generation_ = 0;
};

// 0..100: 50 where nothing is lost, more where a choice mends what was broken.
int64_t scoreOfLoss(int64_t loss);

}  // namespace mangrove::placement
