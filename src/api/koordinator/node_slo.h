#pragma once
// NodeSLO (slo.koordinator.sh): what the manager tells the agent of one node. Named like the node.
//
//   Result<NodeSlo> slo = decode<NodeSlo>(view);
//   json::Value patch = toJson(spec);                  // the manager writes the spec

#include <optional>
#include <vector>

#include "api/koordinator/extensions.h"
#include "api/koordinator/resource_qos.h"
#include "api/koordinator/slo_strategy.h"
#include "api/object/meta.h"
#include "json/fwd.h"

namespace mangrove::api {

struct NodeSloSpec {
  std::optional<ResourceThresholdStrategy> resourceUsedThresholdWithBe;
  std::optional<ResourceQosStrategy> resourceQosStrategy;
  std::optional<CpuBurstStrategy> cpuBurstStrategy;
  std::optional<SystemStrategy> systemStrategy;
  std::optional<Extensions> extensions;
  std::vector<HostApplication> hostApplications;
  bool operator==(const NodeSloSpec&) const = default;
};
bool read(const In& in, NodeSloSpec& out);
json::Value toJson(const NodeSloSpec& value);

struct NodeSlo {
  ObjectMeta meta;
  NodeSloSpec spec;
};
bool read(const In& in, NodeSlo& out);

}  // namespace mangrove::api
