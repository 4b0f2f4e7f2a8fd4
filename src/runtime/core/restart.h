#pragma once
// When a container that ended runs again. Kubernetes' rules: at once after the first failure, then
// 10 s, 20 s, 40 s … up to 5 min; forgiven after 10 min of running. Pure.

#include "api/pod/pod_spec.h"
#include "runtime/core/pod_model.h"

namespace mangrove::runtime {

inline constexpr Duration kFirstBackOff = std::chrono::seconds(10);
inline constexpr Duration kLongestBackOff = std::chrono::minutes(5);
inline constexpr Duration kForgivenAfter = std::chrono::minutes(10);

// The wait before a restart that follows `crashes` earlier restarts of one series; 0 for the first.
Duration backOff(int crashes);
// The series after a run that ended so.
int crashesAfter(int crashes, const ExitRecord& run);
// Whether a run that ended so is followed by another. Sidecars always are.
bool restarts(api::RestartPolicy policy, ContainerRole role, const ExitRecord& run);

}  // namespace mangrove::runtime
