#include "placement/device/cards.h"

#include <algorithm>

#include "api/wire/names.h"
#include "placement/device/partitions.h"

namespace mangrove::placement {
namespace {

void report(NodeDevices& node, const api::DeviceInfo& info) {
  Card& card = cardOf(node, info.type.str(), info.minor.value_or(0));
  card.id = info.id;
  card.labels = info.labels;
  card.reported = true;
  if (info.health) card.total = amountsOf(info.resources);
  card.topology = info.topology;
  card.vfGroups = info.vfGroups;
}

void hold(NodeDevices& node, const api::DeviceAllocations& held) {
  for (const auto& [type, allocations] : held)
    for (const api::DeviceAllocation& one : allocations) {
      Card& card = cardOf(node, type, one.minor);
      card.used.add(amountsOf(one.resources));
      if (!one.extension) continue;
      for (const auto& function : one.extension->vfs) ++card.heldFunctions[function.busId];
    }
}

}  // namespace

Card& cardOf(NodeDevices& node, const std::string& type, int32_t minor) {
  Cards& cards = node.byType[type];
  auto at = std::lower_bound(cards.begin(), cards.end(), minor,
                             [](const Card& card, int32_t want) { return card.minor < want; });
  if (at == cards.end() || at->minor != minor) {
    at = cards.insert(at, Card{});
    at->minor = minor;
  }
  return *at;
}

Amounts Card::free() const {
  Amounts out;
  for (const auto& [name, amount] : total)
    out.set(name, std::max<int64_t>(0, saturatingDifference(amount, used.amount(name))));
  return out;
}

Result<NodeDevices> nodeDevices(const api::Device& device, const api::Labels& node,
                                std::span<const api::DeviceAllocations> held) {
  NodeDevices out;
  for (const api::DeviceInfo& info : device.spec.devices) report(out, info);
  for (const api::DeviceAllocations& one : held) hold(out, one);
  auto table = api::parseGpuPartitions(device.meta.annotations);
  if (!table) return table.error().in("Device {}", device.meta.name.view());
  const std::string_view vendor = node.get(api::label::kGpuVendor).value_or("");
  const std::string_view model = node.get(api::label::kGpuModel).value_or("");
  out.gpuModel = std::string(vendor) + "-" + std::string(model);
  out.honorsPartitions = api::honorsGpuPartitions(*table ? device.meta.labels : node);
  out.partitions = *table ? std::move(*table) : builtInPartitions(vendor, model);
  return out;
}

}  // namespace mangrove::placement
