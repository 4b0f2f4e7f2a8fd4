#include "placement/plugins/deviceshare/shape_watch.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace mangrove::placement {

void ShapeWatch::saw(const DevicePlan& pod, int64_t milliCpu) {
  const auto& gpu = pod.wish.request.gpu;
  if (!gpu) return;
  const DeviceNames& names = deviceNames();
  const int64_t percent = std::max(gpu->perGpu.amount(names.core), gpu->perGpu.amount(names.ratio));
  // Shares by fives and CPUs by powers of two: what is nearly alike counts together.
  const int64_t cores = milliCpu <= 0 ? 0 : (milliCpu + 999) / 1000;
  const auto rounded = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(cores)));
  seen_.saw(
      {gpu->count, percent == 0 ? 100 : (percent + 4) / 5 * 5, cores == 0 ? 0 : 1000 * rounded});
  // Early on every pod tells much; later a step is enough.
  if (++since_ < std::min(kStep, 1 + seen_.total() / 4)) return;
  since_ = 0;
  lately_ = seen_;
  generation_++;
}

int64_t scoreOfLoss(int64_t loss) {
  constexpr double kSteepness = 20'000;  // thousandths of a percent: a fifth of a card
  return std::lround(100 / (1 + std::exp(static_cast<double>(loss) / kSteepness)));
}

}  // namespace mangrove::placement
