#include "placement/device/wish.h"

namespace mangrove::placement {
namespace {

// One of the words, or nothing at all.
Result<> oneOf(std::string_view field, std::string_view value,
               std::initializer_list<std::string_view> words) {
  if (value.empty()) return {};
  std::string list;
  for (std::string_view word : words) {
    if (word == value) return {};
    list += fmt::format("{}{}", list.empty() ? "" : ", ", word);
  }
  return invalid("{} is '{}'; want one of {}", field, value, list);
}

Result<> checkWords(const api::DeviceHint& hint) {
  if (auto ok =
          oneOf("allocateStrategy", hint.allocateStrategy, {"ApplyForAll", "RequestsAsCount"});
      !ok)
    return ok;
  if (auto ok = oneOf("requiredTopologyScope", hint.requiredTopologyScope,
                      {"Device", "PCIe", "NUMANode", "Node"});
      !ok)
    return ok;
  return oneOf("exclusivePolicy", hint.exclusivePolicy, {"DeviceLevel", "PCIeLevel"});
}

Result<> compileInto(std::optional<api::Selector>& out,
                     const std::optional<api::LabelSelector>& selector, std::string_view field) {
  if (!selector) return {};
  auto compiled = api::compile(*selector);
  if (!compiled) return compiled.error().in("{}", field);
  out = std::move(*compiled);
  return {};
}

Result<TypeWish> typeWish(const api::DeviceHint& hint) {
  TypeWish out;
  if (auto ok = checkWords(hint); !ok) return pass(ok.error());
  if (auto ok = compileInto(out.selector, hint.selector, "selector"); !ok) return pass(ok.error());
  if (auto ok = compileInto(out.vfSelector, hint.vfSelector, "vfSelector"); !ok)
    return pass(ok.error());
  if (hint.allocateStrategy == "ApplyForAll") out.count = CardCount::kForAll;
  if (hint.allocateStrategy == "RequestsAsCount") out.count = CardCount::kEach;
  out.scope = api::topologyScopeLevel(hint.requiredTopologyScope);
  out.wholeCards = hint.exclusivePolicy == "DeviceLevel";
  out.ownSwitch = hint.exclusivePolicy == "PCIeLevel";
  return out;
}

Result<> readHints(const api::Annotations& pod, DeviceWish& out) {
  auto hints = api::parseDeviceHints(pod);
  if (!hints) return pass(hints.error());
  if (!*hints) return {};
  for (const auto& [type, hint] : **hints) {
    auto wish = typeWish(hint);
    if (!wish) return wish.error().in("device hint of {}", type);
    out.byType.emplace(type, std::move(*wish));
  }
  return {};
}

Result<> readJoint(const api::Annotations& pod, DeviceWish& out) {
  auto joint = api::parseDeviceJointAllocate(pod);
  if (!joint) return pass(joint.error());
  if (!*joint) return {};
  if (auto ok = oneOf("requiredScope", (*joint)->requiredScope, {"SamePCIe"}); !ok)
    return ok.error().in("joint allocation of devices");
  out.jointTypes = std::move((*joint)->deviceTypes);
  out.samePcie = !(*joint)->requiredScope.empty();
  return {};
}

Result<> readPartition(const api::Annotations& pod, DeviceWish& out) {
  auto spec = api::parseGpuPartitionSpec(pod);
  if (!spec) return pass(spec.error());
  if (!*spec) return {};
  if (auto ok = oneOf("allocatePolicy", (*spec)->allocatePolicy, {"Restricted", "BestEffort"}); !ok)
    return ok.error().in("GPU partition");
  out.partition = std::move(*spec);
  return {};
}

}  // namespace

const TypeWish& DeviceWish::of(std::string_view type) const {
  static const TypeWish kNone;
  const auto at = byType.find(type);
  return at == byType.end() ? kNone : at->second;
}

Result<DeviceWish> deviceWish(const Amounts& podTotal, const api::Annotations& pod) {
  DeviceReading reading = readDeviceRequest(podTotal);
  if (reading.refusal) return invalid("{}", reading.refusal->message);
  DeviceWish out;
  out.request = std::move(reading.request);
  for (auto readPart : {readHints, readJoint, readPartition})
    if (auto ok = readPart(pod, out); !ok) return pass(ok.error());
  return out;
}

}  // namespace mangrove::placement
