#include "dashboard/device_books.h"

#include "placement/device/request.h"

namespace mangrove::dashboard {

Result<> DeviceLibrary::device(const api::Device& device) {
  const std::string name = device.meta.name.str();
  return books_[name].report(&device, labels_[name]);
}

void DeviceLibrary::pod(const api::Pod& pod) {
  if (pod.nodeName.empty() || api::isTerminated(pod)) return;
  const auto given = api::parseDeviceAllocations(pod.meta.annotations);
  if (!given || !*given) return;
  names_[pod.meta.uid] = pod.meta.ns.str() + "/" + pod.meta.name.str();
  books_[pod.nodeName.str()].hold(pod.meta.uid, placement::heldOf(**given));
}

std::string_view healthWord(const placement::Card& card) {
  if (!card.reported) return "gone";
  return card.total.empty() ? "unhealthy" : "healthy";
}

Interned mainResource(std::string_view type) {
  const placement::DeviceNames& names = placement::deviceNames();
  if (type == placement::device_type::kRdma) return names.rdma;
  return type == placement::device_type::kFpga ? names.fpga : names.core;
}

}  // namespace mangrove::dashboard
