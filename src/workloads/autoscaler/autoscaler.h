#pragma once
// HorizontalPodAutoscaler: how many replicas its target should have, from what its pods use. The
// largest wish of its metrics counts; a metric that cannot be answered keeps it from shrinking.
// Pure function of what is seen; the history is the memory of one autoscaler and changes with it.

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "api/pod/resource_list.h"
#include "workloads/autoscaler/behaviour.h"
#include "workloads/plan.h"

namespace mangrove::workloads {

struct Measured {
  api::ResourceList usage;                                   // of the whole pod
  std::map<std::string, api::ResourceList> containers = {};  // where measured one by one
  WallTime at{};                                             // when the span ended
  Duration window{};                                         // over which amounts were taken
};
// What a pod was last seen to use; nullopt: nobody measured it.
using UsageOf = std::function<std::optional<Measured>(const api::Pod&)>;

// What is to be scaled. `trouble`: why it cannot be.
struct ScaleView {
  client::Ref ref;
  int32_t wanted = 0;   // spec.replicas
  int32_t present = 0;  // pods there are
  Pods pods;
  std::string trouble;
};

Plan planAutoscaler(const Autoscaler& scaler, const ScaleView& target, const UsageOf& usageOf,
                    History& history, std::string raw, WallTime now);

}  // namespace mangrove::workloads
