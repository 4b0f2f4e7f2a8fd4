#include "agent/qos/yarn/limits.h"

#include <algorithm>

namespace mangrove::agent {
namespace {

constexpr double kPeriodUs = 100'000;
constexpr int64_t kLeastQuotaUs = 1'000;
constexpr Bytes kStep = kMiB * 16;  // so that every page more is not a write more

}  // namespace

NodeManagerLimits limitsFor(const api::YarnCapacity& capacity, const NodeManagerNeeds& own,
                            std::optional<Bytes> used) {
  const double cores = static_cast<double>(capacity.vcores) / capacity.vcoresPerCpu.value_or(1) +
                       static_cast<double>(own.cpu.v) / 1000;
  const Bytes wanted{capacity.memoryMb * kMiB.v + own.memory.v};
  Bytes memory = wanted;
  if (used && used->v > wanted.v) memory = Bytes{(used->v / kStep.v + 1) * kStep.v};
  return {std::max(kLeastQuotaUs, static_cast<int64_t>(cores * kPeriodUs)), memory};
}

}  // namespace mangrove::agent
