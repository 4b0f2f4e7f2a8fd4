#include "api/koordinator/cluster_network_topology.h"

#include "api/wire/schema.h"

namespace mangrove::api {

static constexpr Schema kLayer{
    always<&NetworkLayer::topologyLayer>("topologyLayer"),
    unlessUnset<&NetworkLayer::parentTopologyLayer>("parentTopologyLayer"),
    unlessUnset<&NetworkLayer::labelKey>("labelKey"),
};
bool read(const In& in, NetworkLayer& out) {
  return kLayer.read(in, out);
}
json::Value toJson(const NetworkLayer& value) {
  return kLayer.write(value);
}

static constexpr Schema kInfo{
    unlessUnset<&TopologyInfo::topologyLayer>("topologyLayer"),
    unlessUnset<&TopologyInfo::topologyName>("topologyName"),
};
bool read(const In& in, TopologyInfo& out) {
  return kInfo.read(in, out);
}
json::Value toJson(const TopologyInfo& value) {
  return kInfo.write(value);
}

static constexpr Schema kDetail{
    always<&TopologyDetail::topologyInfo>("topologyInfo"),
    unlessUnset<&TopologyDetail::parentTopologyInfo>("parentTopologyInfo"),
    unlessUnset<&TopologyDetail::childTopologyLayer>("childTopologyLayer"),
    unlessUnset<&TopologyDetail::childTopologyNames>("childTopologyNames"),
    unlessUnset<&TopologyDetail::nodeNum>("nodeNum"),
};
bool read(const In& in, TopologyDetail& out) {
  return kDetail.read(in, out);
}
json::Value toJson(const TopologyDetail& value) {
  return kDetail.write(value);
}

using Spec = ClusterNetworkTopologySpec;
static constexpr Schema kSpec{unlessUnset<&Spec::networkTopologySpec>("networkTopologySpec")};
bool read(const In& in, ClusterNetworkTopologySpec& out) {
  return kSpec.read(in, out);
}
json::Value toJson(const ClusterNetworkTopologySpec& value) {
  return kSpec.write(value);
}

using Status = ClusterNetworkTopologyStatus;
static constexpr Schema kStatus{unlessUnset<&Status::detailStatus>("detailStatus")};
bool read(const In& in, ClusterNetworkTopologyStatus& out) {
  return kStatus.read(in, out);
}
json::Value toJson(const ClusterNetworkTopologyStatus& value) {
  return kStatus.write(value);
}

bool read(const In& in, ClusterNetworkTopology& out) {
  static constexpr Fields fields{
      field<&ClusterNetworkTopology::meta>("metadata"),
      field<&ClusterNetworkTopology::spec>("spec"),
      field<&ClusterNetworkTopology::status>("status"),
  };
  return fields.read(in, out);
}

}  // namespace mangrove::api
