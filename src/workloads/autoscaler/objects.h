#pragma once
// HorizontalPodAutoscaler (autoscaling/v2) as its controller reads it. Values.

#include <optional>
#include <string>
#include <vector>

#include "api/object/meta.h"
#include "api/wire/decode.h"
#include "api/wire/kind.h"
#include "workloads/objects.h"

namespace mangrove::workloads {

inline constexpr api::Kind kAutoscaler{
    "autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true, true};

struct ScaleTarget {
  std::string apiVersion, kind, name;
};
bool read(const api::In& in, ScaleTarget& out);

// One entry of spec.metrics. Kinds that need a metrics adapter keep their type, so that they can be
// named as what cannot be answered here.
struct MetricWish {
  std::string type;                    // Resource, ContainerResource; Pods, Object, External
  std::string resource;                // cpu, memory
  std::string container;               // of ContainerResource
  std::optional<int32_t> utilization;  // percent of what the pods ask for
  std::optional<Quantity> average;     // amount per pod
};
bool read(const api::In& in, MetricWish& out);

struct ScalePolicy {
  std::string type;  // Pods or Percent
  int32_t value = 0;
  int32_t periodSeconds = 15;
};
bool read(const api::In& in, ScalePolicy& out);

struct ScaleRules {
  std::optional<int32_t> stabilizationSeconds;
  std::string select = "Max";  // Min, Disabled
  std::vector<ScalePolicy> policies;
  std::optional<Quantity> tolerance;  // a share: 50m is 5 %
};
bool read(const api::In& in, ScaleRules& out);

struct Autoscaler {
  api::ObjectMeta meta;
  ScaleTarget target;
  int32_t least = 1;
  int32_t most = 1;
  std::vector<MetricWish> metrics;
  ScaleRules up, down;
  WallTime lastScaleTime = kZeroTime;
  std::vector<WorkloadCondition> conditions;
};
bool read(const api::In& in, Autoscaler& out);

}  // namespace mangrove::workloads
