#include "manager/controllers/noderesource/zone_amounts.h"

#include <algorithm>

namespace mangrove::manager {
namespace {

// One resource of one zone and of the node, in whole units.
struct Share {
  int64_t amount = 0;    // the zone's by the formula
  int64_t formula = 0;   // the node's by the formula
  int64_t capacity = 0;  // the zone's
  int64_t total = 0;     // capacity of all zones
};

int64_t portionOf(const Share& s, int64_t ledger) {
  const bool byFormula = s.formula > 0;
  const auto part = static_cast<double>(byFormula ? s.amount : s.capacity);
  const auto whole = static_cast<double>(byFormula ? s.formula : s.total);
  if (whole <= 0) return 0;
  const auto share = static_cast<int64_t>(static_cast<double>(ledger) * (part / whole));
  return std::clamp<int64_t>(share, 0, std::min(ledger, std::max(s.capacity, s.amount)));
}

}  // namespace

std::vector<ZoneAmount> zoneAmounts(const BatchResult& batch, const Sold& ledger) {
  int64_t totalCpu = 0, totalMemory = 0;
  for (const auto& zone : batch.zones) {
    totalCpu += zone.terms.capacity.cpu.milliValue();
    totalMemory += zone.terms.capacity.memory.value();
  }
  std::vector<ZoneAmount> out;
  for (const auto& zone : batch.zones) {
    ZoneAmount amount{zone.zone, zone.milliCpu, zone.memory};
    const auto& capacity = zone.terms.capacity;
    if (ledger.milliCpu != batch.milliCpu)
      amount.milliCpu = portionOf(
          {zone.milliCpu, batch.milliCpu, capacity.cpu.milliValue(), totalCpu}, ledger.milliCpu);
    if (ledger.memoryBytes != batch.memoryBytes)
      amount.memory = Quantity::of(Bytes{
          portionOf({zone.memory.value(), batch.memoryBytes, capacity.memory.value(), totalMemory},
                    ledger.memoryBytes)});
    out.push_back(std::move(amount));
  }
  return out;
}

}  // namespace mangrove::manager
