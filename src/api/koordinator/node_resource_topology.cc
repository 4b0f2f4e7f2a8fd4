#include "api/koordinator/node_resource_topology.h"

#include "api/wire/schema.h"
#include "base/text/strings.h"

namespace mangrove::api {

static constexpr Schema kResource{
    always<&ZoneResource::name>("name"),
    always<&ZoneResource::capacity>("capacity"),
    always<&ZoneResource::allocatable>("allocatable"),
    always<&ZoneResource::available>("available"),
};
bool read(const In& in, ZoneResource& out) {
  return kResource.read(in, out);
}
json::Value toJson(const ZoneResource& value) {
  return kResource.write(value);
}

static constexpr Schema kCost{
    always<&ZoneCost::name>("name"),
    always<&ZoneCost::value>("value"),
};
bool read(const In& in, ZoneCost& out) {
  return kCost.read(in, out);
}
json::Value toJson(const ZoneCost& value) {
  return kCost.write(value);
}

static constexpr Schema kAttribute{
    always<&ZoneAttribute::name>("name"),
    always<&ZoneAttribute::value>("value"),
};
bool read(const In& in, ZoneAttribute& out) {
  return kAttribute.read(in, out);
}
json::Value toJson(const ZoneAttribute& value) {
  return kAttribute.write(value);
}

static constexpr Schema kZone{
    always<&Zone::name>("name"),
    always<&Zone::type>("type"),
    unlessUnset<&Zone::parent>("parent"),
    unlessUnset<&Zone::costs>("costs"),
    unlessUnset<&Zone::attributes>("attributes"),
    unlessUnset<&Zone::resources>("resources"),
};
bool read(const In& in, Zone& out) {
  return kZone.read(in, out);
}
json::Value toJson(const Zone& value) {
  return kZone.write(value);
}

const ZoneResource* Zone::find(std::string_view resource) const {
  for (const ZoneResource& r : resources)
    if (r.name == resource) return &r;
  return nullptr;
}

bool read(const In& in, NodeResourceTopology& out) {
  static constexpr Fields fields{
      field<&NodeResourceTopology::meta>("metadata"),
      field<&NodeResourceTopology::topologyPolicies>("topologyPolicies"),
      field<&NodeResourceTopology::zones>("zones"),
  };
  return fields.read(in, out);
}

std::optional<int> numaIdOf(const Zone& zone) {
  constexpr std::string_view kPrefix = "node-";
  const std::string_view name = zone.name;
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const auto id = parseInt<int>(name.substr(kPrefix.size()));
  return id && *id >= 0 ? id : std::nullopt;
}

}  // namespace mangrove::api
