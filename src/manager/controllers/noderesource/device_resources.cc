#include "manager/controllers/noderesource/device_resources.h"

#include "api/wire/names.h"

namespace mangrove::manager {
namespace {

namespace r = api::resource;

constexpr int64_t kPercentOfCard = 100;

constexpr std::array<std::string_view, 9> kNames = {
    r::kGpu,       r::kGpuCore,       r::kGpuMemory,    r::kGpuMemoryRatio,
    r::kGpuShared, r::kHuaweiNpuCore, r::kHuaweiNpuCpu, r::kHuaweiNpuDvpp,
    r::kRdma};
constexpr std::array<std::string_view, 3> kLabels = {api::label::kGpuVendor, api::label::kGpuModel,
                                                     api::label::kGpuDriverVersion};

std::span<const std::string_view> gpuNames() {
  return std::span(kNames).first(kNames.size() - 1);
}

int64_t countHealthy(const api::Device& device, std::string_view type) {
  int64_t out = 0;
  for (const auto& info : device.spec.devices)
    if (info.type.view() == type && info.health) out++;
  return out;
}

api::ResourceList sumHealthy(const api::Device& device, std::string_view type) {
  api::ResourceList out;
  for (const auto& info : device.spec.devices)
    if (info.type.view() == type && info.health) out.add(info.resources);
  return out;
}

// The wrapper name is for NVIDIA cards, or cards nobody labelled.
bool hasWrapper(const api::Device& device) {
  const auto vendor = device.meta.labels.get(api::label::kGpuVendor).value_or("");
  return vendor.empty() || vendor == "nvidia";
}

void addGpu(const api::Device& device, bool shared, NodeWish& wish) {
  api::ResourceList sum = sumHealthy(device, "gpu");
  if (const Quantity* core = sum.find(r::kGpuCore); core && hasWrapper(device)) {
    const Quantity amount = *core;
    sum.set(r::kGpu, amount);
  }
  if (shared) sum.set(r::kGpuShared, Quantity::of(kPercentOfCard * countHealthy(device, "gpu")));
  for (auto name : gpuNames())
    if (const Quantity* amount = sum.find(name)) wish.setResource(Interned(name), *amount);
  for (auto key : kLabels)
    if (const auto value = device.meta.labels.get(key))
      wish.labels[std::string(key)] = std::string(*value);
}

void addVendorName(const api::Device* device, NodeWish& wish) {
  const bool nvidia = device && hasWrapper(*device);
  const int64_t cards = nvidia ? countHealthy(*device, "gpu") : 0;
  if (cards > 0)
    wish.setResource(Interned(r::kNvidiaGpu), Quantity::of(cards));
  else
    wish.removeResource(Interned(r::kNvidiaGpu));
}

}  // namespace

std::span<const std::string_view> deviceResourceNames() {
  return kNames;
}

std::span<const std::string_view> deviceLabelNames() {
  return kLabels;
}

void addDeviceResources(const api::Device* device, const DeviceOptions& options, NodeWish& wish) {
  if (options.gpu) {
    if (device && countHealthy(*device, "gpu") > 0)
      addGpu(*device, options.gpuShared, wish);
    else
      for (auto name : gpuNames()) wish.removeResource(Interned(name));
  }
  if (options.gpu && options.vendorName) addVendorName(device, wish);
  if (options.rdma) {
    const int64_t cards = device ? countHealthy(*device, "rdma") : 0;
    if (cards > 0)
      wish.setResource(Interned(r::kRdma), Quantity::of(kPercentOfCard * cards));
    else
      wish.removeResource(Interned(r::kRdma));
  }
}

}  // namespace mangrove::manager
