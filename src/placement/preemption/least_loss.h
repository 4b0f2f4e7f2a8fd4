#pragma once
// The victims of a preemption on one node by the project's one order (victims/order.h): class and
// priority first, then the set that throws the least work away and lets the pod in. Members of a
// strict gang on the node go together.
//
//   LossChoice choice = leastLoss({cluster, row, pod, now}, others, violating, fits);
//
// Plays with the real cluster: the pods are away when it is called and back when it returns. Owner
// thread only.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/number/units.h"
#include "placement/cluster/cluster.h"

namespace mangrove::placement {

struct LossQuestion {
  Cluster& cluster;
  Row row;
  const PodInfo& pod;  // that wants in
  WallTime now;
};

// What each victim loses and what the next candidate would have lost (victims::sentence).
using LossSentences = std::map<PodPtr, std::string>;

struct LossChoice {
  std::vector<PodPtr> victims;
  int64_t violations = 0;  // victims that a budget protects: taken only when the others are too few
  double loss = 0;         // core seconds, restarts included
  LossSentences sentences;
};

// `fits`: the pod on the row as it is at the moment. It did with all of them away.
LossChoice leastLoss(const LossQuestion& question, const std::vector<PodPtr>& others,
                     const std::vector<PodPtr>& violating, const std::function<bool()>& fits);

}  // namespace mangrove::placement
