#include "manager/controllers/noderesource/zone_update.h"

#include <algorithm>
#include <cmath>

#include "api/names.h"

namespace mangrove::manager {
namespace {

bool updateValue(Quantity& value, const Quantity& wanted, double threshold) {
  if (!differs(&value, &wanted, threshold)) return false;
  value = wanted;
  return true;
}

bool updateResource(api::Zone& zone, std::string_view name, const Quantity& amount,
                    double threshold) {
  for (auto& resource : zone.resources) {
    if (resource.name.view() != name) continue;
    bool changed = updateValue(resource.capacity, amount, threshold);
    changed |= updateValue(resource.allocatable, amount, threshold);
    changed |= updateValue(resource.available, amount, threshold);
    return changed;
  }
  zone.resources.push_back({Interned(name), amount, amount, amount});
  std::stable_sort(zone.resources.begin(), zone.resources.end(),
                   [](const auto& a, const auto& b) { return a.name.view() < b.name.view(); });
  return true;
}

}  // namespace

bool differs(const Quantity* before, const Quantity* after, double threshold) {
  if ((before == nullptr) != (after == nullptr)) return true;
  if (before == nullptr) return false;
  const auto old = static_cast<double>(before->milliValue());
  const auto now = static_cast<double>(after->milliValue());
  return std::abs(now - old) > old * threshold;
}

bool updateZones(std::vector<api::Zone>& zones, std::span<const ZoneAmount> amounts,
                 double threshold, const std::optional<double>& ratio) {
  bool changed = false;
  for (auto& zone : zones) {
    const auto amount = std::find_if(amounts.begin(), amounts.end(),
                                     [&](const ZoneAmount& a) { return a.zone == zone.name; });
    if (amount == amounts.end()) continue;
    Quantity cpu = Quantity::of(amount->milliCpu);
    if (ratio && *ratio > 1) cpu = cpu.mulMilli(*ratio);  // zones keep fractions, nodes do not
    changed |= updateResource(zone, api::resource::kBatchCpu, cpu, threshold);
    changed |= updateResource(zone, api::resource::kBatchMemory, amount->memory, threshold);
  }
  return changed;
}

}  // namespace mangrove::manager
