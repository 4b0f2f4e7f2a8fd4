#include "api/object/node.h"

#include <algorithm>

#include "api/wire/names.h"

namespace mangrove::api {

static bool read(const In& in, NodeSpec& out) {
  static constexpr Fields fields{
      field<&NodeSpec::unschedulable>("unschedulable"),
      field<&NodeSpec::providerId>("providerID"),
      field<&NodeSpec::podCidr>("podCIDR"),
      field<&NodeSpec::podCidrs>("podCIDRs"),
      field<&NodeSpec::taints>("taints"),
  };
  return fields.read(in, out);
}

static bool read(const In& in, NodeAddress& out) {
  static constexpr Fields fields{
      field<&NodeAddress::type>("type"),
      field<&NodeAddress::address>("address"),
  };
  return fields.read(in, out);
}

static bool read(const In& in, NodeImage& out) {
  static constexpr Fields fields{
      field<&NodeImage::names>("names"),
      field<&NodeImage::size>("sizeBytes"),
  };
  return fields.read(in, out);
}

static bool read(const In& in, NodeInfo& out) {
  static constexpr Fields fields{
      field<&NodeInfo::kernelVersion>("kernelVersion"),
      field<&NodeInfo::osImage>("osImage"),
      field<&NodeInfo::containerRuntimeVersion>("containerRuntimeVersion"),
      field<&NodeInfo::kubeletVersion>("kubeletVersion"),
      field<&NodeInfo::operatingSystem>("operatingSystem"),
      field<&NodeInfo::architecture>("architecture"),
      field<&NodeInfo::machineId>("machineID"),
      field<&NodeInfo::systemUuid>("systemUUID"),
      field<&NodeInfo::bootId>("bootID"),
  };
  return fields.read(in, out);
}

static bool read(const In& in, AttachedVolume& out) {
  static constexpr Fields fields{
      field<&AttachedVolume::name>("name"),
      field<&AttachedVolume::devicePath>("devicePath"),
  };
  return fields.read(in, out);
}

namespace {

bool readPort(const In& in, NodeStatus& out) {
  static constexpr Fields fields{field<&NodeStatus::kubeletPort>("Port")};
  return fields.read(in, out);
}

bool readEndpoints(const In& in, NodeStatus& out) {
  static constexpr Fields fields{via<readPort>("kubeletEndpoint")};
  return fields.read(in, out);
}

bool readConditions(const In& in, NodeStatus& out) {
  if (!read(in, out.conditions)) return false;
  size_t index = 0;
  for (json::View condition : in.view.elements()) {
    const json::View beat = condition["lastHeartbeatTime"];
    const In element = in.element(index++, condition);
    WallTime time = kZeroTime;
    if (beat.exists() && !beat.isNull() && !read(element.member("lastHeartbeatTime", beat), time))
      return false;
    out.heartbeat = std::max(out.heartbeat, time);
  }
  return true;
}

}  // namespace

static bool read(const In& in, NodeStatus& out) {
  static constexpr Fields fields{
      field<&NodeStatus::capacity>("capacity"),
      field<&NodeStatus::allocatable>("allocatable"),
      via<readConditions>("conditions"),
      field<&NodeStatus::addresses>("addresses"),
      field<&NodeStatus::images>("images"),
      field<&NodeStatus::info>("nodeInfo"),
      field<&NodeStatus::volumesInUse>("volumesInUse"),
      field<&NodeStatus::volumesAttached>("volumesAttached"),
      field<&NodeStatus::declaredFeatures>("declaredFeatures"),
      via<readEndpoints>("daemonEndpoints"),
  };
  return fields.read(in, out);
}

bool read(const In& in, Node& out) {
  static constexpr Fields fields{
      field<&Node::meta>("metadata"),
      field<&Node::spec>("spec"),
      field<&Node::status>("status"),
  };
  return fields.read(in, out);
}

std::string zoneOf(const Node& node) {
  const Labels& labels = node.meta.labels;
  const auto either = [&](std::string_view current, std::string_view former) {
    if (auto value = labels.get(current)) return *value;
    return labels.get(former).value_or("");
  };
  const std::string_view region = either(label::kRegion, label::kOldRegion);
  const std::string_view zone = either(label::kZone, label::kOldZone);
  if (region.empty() && zone.empty()) return {};
  // A byte that no label may contain keeps ("a", "bc") and ("ab", "c") apart.
  return std::string(region).append(":").append(1, '\0').append(":").append(zone);
}

}  // namespace mangrove::api
