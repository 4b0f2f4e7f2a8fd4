#pragma once
// The arithmetic of a rolling update: how many replicas each ReplicaSet should have next. Numbers
// in, numbers out; deployment.h turns them into patches. Pure functions, any thread.

#include <cstdint>
#include <vector>

namespace mangrove::workloads {

// One ReplicaSet of a deployment as the arithmetic sees it.
struct SetSize {
  int32_t wanted = 0;     // spec.replicas
  int32_t available = 0;  // status
  // What the deployment's size and ceiling were when this set was last scaled; -1: unknown.
  int32_t sizedFor = -1, ceilingThen = -1;
};

struct RolloutGoal {
  int32_t replicas = 0;
  int32_t surge = 0;
  int32_t unavailable = 0;
};

// The present template's set and the old ones, oldest first. Both functions return the new size of
// each in the same order: [0] is the new set.
struct RolloutSets {
  SetSize fresh;
  std::vector<SetSize> old;
};

// One step of a rolling update: first the new set grows as far as the ceiling allows, and only when
// it cannot, old sets shrink: unhealthy replicas first, then as many as availability allows.
std::vector<int32_t> rollingStep(const RolloutSets& sets, const RolloutGoal& goal);

// The deployment was resized in the middle of a rollout: every set keeps its share.
std::vector<int32_t> proportionalStep(const RolloutSets& sets, const RolloutGoal& goal);

// The size a new set starts with beside `others` replicas that exist already.
int32_t firstSize(int32_t others, const RolloutGoal& goal);

}  // namespace mangrove::workloads
