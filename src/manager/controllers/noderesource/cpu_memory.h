#pragma once
// Cores and bytes side by side, exact: the two resources that are measured, reserved and reclaimed.
// Quantities, because usage comes in nano-cores and shares of bytes in thousandths, and the result
// is compared with the reference's to the last unit.
//
//   CpuMemory left = capacity - margin - maxOf(system, reserved);
//
// Values; any thread.

#include <algorithm>
#include <cstdint>

#include "api/pod/resource_list.h"
#include "base/number/quantity.h"

namespace mangrove::manager {

struct CpuMemory {
  Quantity cpu;
  Quantity memory;

  CpuMemory operator+(const CpuMemory& o) const { return {cpu + o.cpu, memory + o.memory}; }
  CpuMemory operator-(const CpuMemory& o) const { return {cpu - o.cpu, memory - o.memory}; }
  CpuMemory& operator+=(const CpuMemory& o) { return *this = *this + o; }
  bool operator==(const CpuMemory&) const = default;
};

inline CpuMemory maxOf(const CpuMemory& a, const CpuMemory& b) {
  return {std::max(a.cpu, b.cpu), std::max(a.memory, b.memory)};
}
inline CpuMemory minOf(const CpuMemory& a, const CpuMemory& b) {
  return {std::min(a.cpu, b.cpu), std::min(a.memory, b.memory)};
}
inline CpuMemory notNegative(const CpuMemory& a) {
  return maxOf(a, CpuMemory{});
}

inline CpuMemory cpuMemoryOf(const api::ResourceList& list) {
  const auto& names = api::resourceNames();
  const Quantity* cpu = list.find(names.cpu);
  const Quantity* memory = list.find(names.memory);
  return {cpu ? *cpu : Quantity(), memory ? *memory : Quantity()};
}

// One of `parts` equal shares, each rounded up to a thousandth.
inline Quantity shareOf(const Quantity& amount, int64_t parts) {
  const int64_t milli = amount.milliValue();
  const int64_t share = milli / parts + (milli % parts > 0 ? 1 : 0);
  return Quantity::ofMilli(share, amount.format());
}
inline CpuMemory shareOf(const CpuMemory& amounts, int64_t parts) {
  return {shareOf(amounts.cpu, parts), shareOf(amounts.memory, parts)};
}

}  // namespace mangrove::manager
