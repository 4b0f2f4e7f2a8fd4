#pragma once
// NodeResourceTopology (topology.node.k8s.io/v1alpha1): the NUMA zones of one node and what each
// has. Named like the node; the agent writes it, the manager adds batch resources to the zones. CPU
// layout and pools are annotations (annotations/topology.h).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/object/meta.h"
#include "json/fwd.h"

namespace mangrove::api {

struct ZoneResource {
  Interned name;
  Quantity capacity;
  Quantity allocatable;
  Quantity available;
  bool operator==(const ZoneResource&) const = default;
};
bool read(const In& in, ZoneResource& out);
json::Value toJson(const ZoneResource& value);

struct ZoneCost {
  std::string name;
  int64_t value = 0;
  bool operator==(const ZoneCost&) const = default;
};
bool read(const In& in, ZoneCost& out);
json::Value toJson(const ZoneCost& value);

struct ZoneAttribute {
  std::string name;
  std::string value;
  bool operator==(const ZoneAttribute&) const = default;
};
bool read(const In& in, ZoneAttribute& out);
json::Value toJson(const ZoneAttribute& value);

struct Zone {
  std::string name;  // node-<NUMA id>
  std::string type;  // Node
  std::string parent;
  std::vector<ZoneCost> costs;
  std::vector<ZoneAttribute> attributes;
  std::vector<ZoneResource> resources;  // sorted by name

  const ZoneResource* find(std::string_view resource) const;
  bool operator==(const Zone&) const = default;
};
bool read(const In& in, Zone& out);
json::Value toJson(const Zone& value);

struct NodeResourceTopology {
  ObjectMeta meta;
  std::vector<std::string> topologyPolicies;
  std::vector<Zone> zones;
};
bool read(const In& in, NodeResourceTopology& out);

// The NUMA id in a zone's name; nullopt when it is not one of ours.
std::optional<int> numaIdOf(const Zone& zone);

}  // namespace mangrove::api
