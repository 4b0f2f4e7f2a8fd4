#pragma once
// ClusterNetworkTopology (scheduling.koordinator.sh): which node labels form the layers of the
// network. Cluster-scoped; an administrator writes the spec, the scheduler the status.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/object/meta.h"
#include "json/fwd.h"

namespace mangrove::api {

inline constexpr std::string_view kClusterTopologyLayer = "ClusterTopologyLayer";
inline constexpr std::string_view kNodeTopologyLayer = "NodeTopologyLayer";

struct NetworkLayer {
  std::string topologyLayer;
  std::string parentTopologyLayer;
  std::vector<std::string> labelKey;  // any of them
  bool operator==(const NetworkLayer&) const = default;
};
bool read(const In& in, NetworkLayer& out);
json::Value toJson(const NetworkLayer& value);

struct TopologyInfo {
  std::string topologyLayer;
  std::string topologyName;
  bool operator==(const TopologyInfo&) const = default;
};
bool read(const In& in, TopologyInfo& out);
json::Value toJson(const TopologyInfo& value);

struct TopologyDetail {
  TopologyInfo topologyInfo;
  std::optional<TopologyInfo> parentTopologyInfo;
  std::string childTopologyLayer;
  std::vector<std::string> childTopologyNames;
  int32_t nodeNum = 0;
  bool operator==(const TopologyDetail&) const = default;
};
bool read(const In& in, TopologyDetail& out);
json::Value toJson(const TopologyDetail& value);

struct ClusterNetworkTopologySpec {
  std::vector<NetworkLayer> networkTopologySpec;
  bool operator==(const ClusterNetworkTopologySpec&) const = default;
};
bool read(const In& in, ClusterNetworkTopologySpec& out);
json::Value toJson(const ClusterNetworkTopologySpec& value);

struct ClusterNetworkTopologyStatus {
  std::vector<TopologyDetail> detailStatus;
  bool operator==(const ClusterNetworkTopologyStatus&) const = default;
};
bool read(const In& in, ClusterNetworkTopologyStatus& out);
json::Value toJson(const ClusterNetworkTopologyStatus& value);

struct ClusterNetworkTopology {
  ObjectMeta meta;
  ClusterNetworkTopologySpec spec;
  ClusterNetworkTopologyStatus status;
};
bool read(const In& in, ClusterNetworkTopology& out);

}  // namespace mangrove::api
