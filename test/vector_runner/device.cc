// Devices: what a pod's requests come to, and which cards of a node it gets.
#include "placement/device/allocate.h"
#include "vector_runner/enforce_support.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {
namespace {

using namespace placement;

Amounts amountsIn(const json::Value& list) {
  Amounts out;
  for (const auto& [name, amount] : list.get_object())
    out.set(Interned(name), amount.to_number<int64_t>());
  return out;
}

json::Object shown(const Amounts& list) {
  json::Object out;
  for (const auto& [name, amount] : list) out[name.view()] = amount;
  return out;
}

json::Value shown(const std::optional<GpuShare>& gpu) {
  if (!gpu) return nullptr;
  return json::Object{
      {"count", gpu->count}, {"per_gpu", shown(gpu->perGpu)}, {"shared", gpu->shared}};
}

json::Value shown(const std::optional<DeviceRefusal>& refusal) {
  if (!refusal) return nullptr;
  return refusal->fault == DeviceFault::kUnit ? "unit" : "combination";
}

template <class Map>
Map textsIn(const json::Value& list) {
  Map out;
  if (list.is_object())
    for (const auto& [key, value] : list.get_object())
      out.set(key, std::string_view(value.get_string()));
  return out;
}

AllocationTerms termsIn(const json::Object& c) {
  AllocationTerms out;
  if (const json::Value& nodes = member(c, "numa_affinity"); nodes.is_array()) {
    out.numaNodes.emplace();
    for (const json::Value& node : nodes.get_array())
      out.numaNodes->push_back(node.to_number<int>());
  }
  if (text(c, "strategy") == "LeastAllocated") out.order = CardOrder::kLeastAllocated;
  if (text(c, "strategy") == "MostAllocated") out.order = CardOrder::kMostAllocated;
  return out;
}

json::Object shown(const DevicePick& pick) {
  json::Object out{{"minor", pick.card->minor}, {"resources", shown(pick.resources)}};
  if (pick.function) out["vf"] = pick.function->busId;
  return out;
}

json::Object shown(const AllocatedDevices& got) {
  if (!got)
    return {{"error", got.error().reason},
            {"code", got.error().unresolvable ? "UnschedulableAndUnresolvable" : "Unschedulable"}};
  json::Object byType;
  for (const auto& [type, picks] : *got) {
    json::Array list;
    for (const DevicePick& pick : picks) list.emplace_back(shown(pick));
    byType[type] = std::move(list);
  }
  return {{"allocated", std::move(byType)}};
}

}  // namespace

void deviceRequest(const json::Object& c, Report& r) {
  const DeviceReading got = readDeviceRequest(amountsIn(c.at("requests")));
  r.expect("error", member(c, "error"), shown(got.refusal));
  json::Object normalized;
  for (const auto& [type, amounts] : got.request.byType) normalized[type] = shown(amounts);
  r.expect("normalized", member(c, "normalized"), normalized);
  r.expect("gpu", member(c, "gpu"), shown(got.request.gpu));
}

void deviceAllocate(const json::Object& c, Report& r) {
  const auto device = decoded<api::Device>(member(c, "device"), r, "device");
  std::vector<api::DeviceAllocations> held;
  for (const json::Value& one : c.at("used").get_array())
    if (auto pod = decoded<api::DeviceAllocations>(one, r, "used")) held.push_back(std::move(*pod));
  const auto wish = deviceWish(amountsIn(c.at("pod_requests")),
                               textsIn<api::Annotations>(member(c, "pod_annotations")));
  if (!device || !wish)
    return r.mismatch("wish", "can be read", wish ? "no device" : wish.error().text());
  const auto node = nodeDevices(*device, textsIn<api::Labels>(member(c, "node_labels")), held);
  if (!node) return r.mismatch("device", "can be read", node.error().text());
  r.expect("result", member(c, "result"), shown(allocateDevices(*node, *wish, termsIn(c))));
}

}  // namespace mangrove::vectors
