#include "api/object/dynamic_resources.h"

#include "json/value.h"

namespace mangrove::api {
namespace {

json::Value valueOf(json::View view) {
  if (view.isObject()) {
    json::Object out;
    for (const auto& [key, value] : view.members()) out[key] = valueOf(value);
    return out;
  }
  if (view.isArray()) {
    json::Array out;
    for (json::View one : view.elements()) out.push_back(valueOf(one));
    return out;
  }
  if (const auto text = view.string()) return json::Value(*text);
  if (const auto truth = view.boolean()) return *truth;
  if (const auto whole = view.integer()) return *whole;
  if (const auto number = view.number()) return *number;
  return nullptr;
}

std::string textOf(json::View view) {
  return view.isArray() && view.size() > 0 ? json::write(valueOf(view)) : "";
}

// [{"cel":{"expression":"…"}}]
bool readSelectors(const In& in, std::vector<std::string>& out) {
  size_t at = 0;
  for (json::View one : in.view.elements()) {
    const auto expression = one["cel"]["expression"].string();
    if (!expression)
      return in.element(at, one).refuse("a selector without cel.expression is not known");
    out.emplace_back(*expression);
    at++;
  }
  return true;
}

bool readClassSelectors(const In& in, DeviceClass& out) {
  return readSelectors(in, out.selectors);
}
bool readRequestSelectors(const In& in, DeviceRequest& out) {
  return readSelectors(in, out.selectors);
}
bool readClassConfig(const In& in, DeviceClass& out) {
  out.config = textOf(in.view);
  return true;
}
bool readClassSpec(const In& in, DeviceClass& out) {
  static constexpr Fields fields{via<readClassSelectors>("selectors"),
                                 via<readClassConfig>("config")};
  return fields.read(in, out);
}

bool readPool(const In& in, ResourceSlice& out) {
  static constexpr Fields fields{field<&ResourceSlice::pool>("name"),
                                 field<&ResourceSlice::generation>("generation"),
                                 field<&ResourceSlice::slices>("resourceSliceCount")};
  return fields.read(in, out);
}
bool readSliceSpec(const In& in, ResourceSlice& out) {
  using T = ResourceSlice;
  static constexpr Fields fields{
      field<&T::driver>("driver"),     via<readPool>("pool"),
      field<&T::nodeName>("nodeName"), field<&T::nodeSelector>("nodeSelector"),
      field<&T::allNodes>("allNodes"), field<&T::devices>("devices")};
  return fields.read(in, out);
}

bool readMode(const In& in, DeviceRequest& out) {
  const auto mode = readString(in);
  if (!mode) return false;
  out.all = *mode == "All";
  if (!out.all && *mode != "ExactCount" && !mode->empty())
    out.unserved = fmt::format("allocationMode {}", *mode);
  return true;
}
bool readAdmin(const In& in, DeviceRequest& out) {
  if (in.view.boolean().value_or(false)) out.unserved = "adminAccess";
  return true;
}
bool readCapacityWish(const In& in, DeviceRequest& out) {
  if (in.view["requests"].size() > 0) out.unserved = "a part of a device's capacity";
  return true;
}
bool readExactly(const In& in, DeviceRequest& out) {
  using T = DeviceRequest;
  static constexpr Fields fields{field<&T::deviceClass>("deviceClassName"),
                                 via<readRequestSelectors>("selectors"),
                                 via<readMode>("allocationMode"),
                                 field<&T::count>("count"),
                                 via<readAdmin>("adminAccess"),
                                 field<&T::tolerations>("tolerations"),
                                 via<readCapacityWish>("capacity")};
  return fields.read(in, out);
}
bool readFirst(const In& in, DeviceRequest& out) {
  if (in.view.size() > 0) out.unserved = "firstAvailable";
  return true;
}

bool readClaimConfig(const In& in, ResourceClaim& out) {
  out.config = textOf(in.view);
  return true;
}
bool readDevices(const In& in, ResourceClaim& out) {
  static constexpr Fields fields{field<&ResourceClaim::requests>("requests"),
                                 field<&ResourceClaim::constraints>("constraints"),
                                 via<readClaimConfig>("config")};
  return fields.read(in, out);
}
bool readClaimSpec(const In& in, ResourceClaim& out) {
  static constexpr Fields fields{via<readDevices>("devices")};
  return fields.read(in, out);
}
bool readResults(const In& in, ClaimAllocation& out) {
  static constexpr Fields fields{field<&ClaimAllocation::devices>("results")};
  return fields.read(in, out);
}
bool readAllocation(const In& in, ResourceClaim& out) {
  static constexpr Fields fields{via<readResults>("devices"),
                                 field<&ClaimAllocation::nodes>("nodeSelector")};
  out.allocation.emplace();
  return fields.read(in, *out.allocation);
}
bool readClaimStatus(const In& in, ResourceClaim& out) {
  static constexpr Fields fields{via<readAllocation>("allocation"),
                                 field<&ResourceClaim::reservedFor>("reservedFor")};
  return fields.read(in, out);
}

}  // namespace

bool DeviceToleration::tolerates(const DeviceTaint& taint) const {
  if (!effect.empty() && effect != taint.effect) return false;
  if (key.empty()) return op == "Exists";
  return key == taint.key && (op == "Exists" || value == taint.value);
}

bool read(const In& in, DeviceAttribute& out) {
  using T = DeviceAttribute;
  static constexpr Fields fields{field<&T::number>("int"), field<&T::truth>("bool"),
                                 field<&T::text>("string"), field<&T::version>("version")};
  return fields.read(in, out);
}
bool read(const In& in, OfferedCapacity& out) {
  static constexpr Fields fields{field<&OfferedCapacity::value>("value")};
  return fields.read(in, out);
}
bool read(const In& in, DeviceTaint& out) {
  using T = DeviceTaint;
  static constexpr Fields fields{field<&T::key>("key"), field<&T::value>("value"),
                                 field<&T::effect>("effect")};
  return fields.read(in, out);
}
bool read(const In& in, DeviceToleration& out) {
  using T = DeviceToleration;
  static constexpr Fields fields{field<&T::key>("key"), field<&T::op>("operator"),
                                 field<&T::value>("value"), field<&T::effect>("effect")};
  return fields.read(in, out);
}
bool read(const In& in, OfferedDevice& out) {
  using T = OfferedDevice;
  static constexpr Fields fields{
      field<&T::name>("name"),         field<&T::attributes>("attributes"),
      field<&T::capacity>("capacity"), field<&T::taints>("taints"),
      field<&T::nodeName>("nodeName"), field<&T::nodeSelector>("nodeSelector"),
      field<&T::allNodes>("allNodes")};
  if (in.view["consumesCounters"].size() > 0) out.special = "shares counters with others";
  if (in.view["allowMultipleAllocations"].boolean().value_or(false))
    out.special = "is given to several at once";
  if (in.view["bindingConditions"].size() > 0) out.special = "waits for conditions";
  return fields.read(in, out);
}
bool read(const In& in, ResourceSlice& out) {
  static constexpr Fields fields{field<&ResourceSlice::meta>("metadata"),
                                 via<readSliceSpec>("spec")};
  return fields.read(in, out);
}
bool read(const In& in, DeviceClass& out) {
  static constexpr Fields fields{field<&DeviceClass::meta>("metadata"), via<readClassSpec>("spec")};
  return fields.read(in, out);
}
bool read(const In& in, DeviceRequest& out) {
  static constexpr Fields fields{field<&DeviceRequest::name>("name"), via<readExactly>("exactly"),
                                 via<readFirst>("firstAvailable")};
  return fields.read(in, out);
}
bool read(const In& in, DeviceConstraint& out) {
  using T = DeviceConstraint;
  static constexpr Fields fields{field<&T::requests>("requests"),
                                 field<&T::matchAttribute>("matchAttribute"),
                                 field<&T::distinctAttribute>("distinctAttribute")};
  return fields.read(in, out);
}
bool read(const In& in, GivenDevice& out) {
  using T = GivenDevice;
  static constexpr Fields fields{field<&T::request>("request"), field<&T::driver>("driver"),
                                 field<&T::pool>("pool"), field<&T::device>("device"),
                                 field<&T::adminAccess>("adminAccess")};
  return fields.read(in, out);
}
bool read(const In& in, ClaimConsumer& out) {
  using T = ClaimConsumer;
  static constexpr Fields fields{field<&T::apiGroup>("apiGroup"), field<&T::resource>("resource"),
                                 field<&T::name>("name"), field<&T::uid>("uid")};
  return fields.read(in, out);
}
bool read(const In& in, ResourceClaim& out) {
  static constexpr Fields fields{field<&ResourceClaim::meta>("metadata"),
                                 via<readClaimSpec>("spec"), via<readClaimStatus>("status")};
  return fields.read(in, out);
}

}  // namespace mangrove::api
