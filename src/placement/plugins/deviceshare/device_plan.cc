#include "placement/plugins/deviceshare/device_plan.h"

#include <algorithm>
#include <array>

#include "api/annotations/scheduling.h"
#include "api/wire/names.h"

namespace mangrove::placement {
namespace {

// Sold by device plugins of kubelets as well.
constexpr std::array kVendorNames = {api::resource::kNvidiaGpu, api::resource::kAmdGpu,
                                     api::resource::kHygonDcu};

bool isDeviceName(std::string_view name) {
  return name.starts_with("koordinator.sh/") || name.starts_with("huawei.com/npu-");
}

Amounts totalOf(const PodClass& cls, const ResourceIds& ids) {
  Amounts out;
  for (const Request& request : cls.requests.all) out.set(ids.name(request.id), request.amount);
  return out;
}

// Whether any name of the request could be one of a device: most pods are done here.
bool mayAsk(const PodClass& cls, const ResourceIds& ids) {
  return std::any_of(cls.requests.all.begin(), cls.requests.all.end(), [&](const Request& one) {
    const std::string_view name = ids.name(one.id).view();
    return isDeviceName(name) ||
           std::find(kVendorNames.begin(), kVendorNames.end(), name) != kVendorNames.end();
  });
}

void readDesignated(const PodClass& cls, DevicePlan& out) {
  const auto hint = api::parseSchedulingHint(cls.annotations);
  if (!hint || !*hint || !(*hint)->extensions.contains("DeviceShare")) return;
  auto named = api::parseDeviceAllocations(cls.annotations);
  if (!named)
    out.refusal = named.error().text();
  else if (*named)
    out.designated = std::move(**named);
}

}  // namespace

DevicePlan compileDevices(const PodClass& cls, const ResourceIds& ids) {
  DevicePlan out;
  if (!mayAsk(cls, ids)) return out;
  const Amounts total = totalOf(cls, ids);
  auto wish = deviceWish(total, cls.annotations);
  if (!wish) {
    out.asks = true;
    out.refusal = wish.error().text();
    return out;
  }
  out.asks = !wish->request.byType.empty();
  if (!out.asks) return out;
  out.wish = std::move(*wish);
  out.isOurs = std::none_of(kVendorNames.begin(), kVendorNames.end(),
                            [&](std::string_view name) { return total.has(Interned(name)); }) ||
               out.wish.request.byType.size() > 1;
  out.isolation = cls.shape->gpuIsolation;
  readDesignated(cls, out);
  return out;
}

}  // namespace mangrove::placement
