#include "runtime/core/restart.h"

#include <algorithm>

#include "base/number/elapsed.h"

namespace mangrove::runtime {

Duration backOff(int crashes) {
  if (crashes <= 0) return Duration::zero();
  const int doublings = std::min(crashes - 1, 10);
  return std::min(kFirstBackOff * (1 << doublings), kLongestBackOff);
}

int crashesAfter(int crashes, const ExitRecord& run) {
  return elapsed(run.startedAt, run.finishedAt) >= kForgivenAfter ? 0 : crashes + 1;
}

bool restarts(api::RestartPolicy policy, ContainerRole role, const ExitRecord& run) {
  if (role == ContainerRole::kSidecar) return true;
  if (role == ContainerRole::kEphemeral) return false;
  if (run.exitCode == 0)
    return role == ContainerRole::kMain && policy == api::RestartPolicy::kAlways;
  return policy != api::RestartPolicy::kNever;
}

}  // namespace mangrove::runtime
