#include "manager/controllers/noderesource/zone_update.h"

#include <algorithm>
#include <cmath>

#include "api/wire/names.h"

namespace mangrove::manager {
namespace {

struct Worth {
  double threshold;
  bool dropsAtOnce;
};

bool updateValue(Quantity& value, const Quantity& wanted, const Worth& worth) {
  const bool fell = worth.dropsAtOnce && wanted < value;
  if (!fell && !differs(&value, &wanted, worth.threshold)) return false;
  value = wanted;
  return true;
}

bool updateResource(api::Zone& zone, std::string_view name, const Quantity& amount,
                    const Worth& worth) {
  for (auto& resource : zone.resources) {
    if (resource.name.view() != name) continue;
    bool changed = updateValue(resource.capacity, amount, worth);
    changed |= updateValue(resource.allocatable, amount, worth);
    changed |= updateValue(resource.available, amount, worth);
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
                 double threshold, const std::optional<double>& ratio, bool dropsAtOnce) {
  const Worth worth{threshold, dropsAtOnce};
  bool changed = false;
  for (auto& zone : zones) {
    const auto amount = std::find_if(amounts.begin(), amounts.end(),
                                     [&](const ZoneAmount& a) { return a.zone == zone.name; });
    if (amount == amounts.end()) continue;
    Quantity cpu = Quantity::of(amount->milliCpu);
    if (ratio && *ratio > 1) cpu = cpu.mulMilli(*ratio);  // zones keep fractions, nodes do not
    changed |= updateResource(zone, api::resource::kBatchCpu, cpu, worth);
    changed |= updateResource(zone, api::resource::kBatchMemory, amount->memory, worth);
  }
  return changed;
}

}  // namespace mangrove::manager
