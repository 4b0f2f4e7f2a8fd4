// Devices: what a pod's requests come to.
#include "placement/device/request.h"
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

}  // namespace

void deviceRequest(const json::Object& c, Report& r) {
  const DeviceReading got = readDeviceRequest(amountsIn(c.at("requests")));
  r.expect("error", member(c, "error"), shown(got.refusal));
  json::Object normalized;
  for (const auto& [type, amounts] : got.request.byType) normalized[type] = shown(amounts);
  r.expect("normalized", member(c, "normalized"), normalized);
  r.expect("gpu", member(c, "gpu"), shown(got.request.gpu));
}

}  // namespace mangrove::vectors
