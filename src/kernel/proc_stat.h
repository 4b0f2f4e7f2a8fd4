#pragma once
// /proc/stat: how many ticks the CPUs worked. Busy ticks are user, nice, system, irq and softirq;
// guest time is inside user; idle, iowait and steal are not work of this machine.
//
//   Result<Ticks> all = nodeTicks(text);              // the line "cpu "
//   perCpuTicks(text, [&](int cpu, Ticks t) { … });   // the lines "cpuN"
//
// A tick is 1/CLK_TCK second. Pure functions, no allocation unless they fail.

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace mangrove::kernel {

struct Ticks {
  uint64_t busy = 0;
  bool operator==(const Ticks&) const = default;
};

Result<Ticks> nodeTicks(std::string_view text);

using PerCpuFn = void (*)(void* context, int cpu, Ticks ticks);
// Stops at the first line that is wrong. An error when there is no cpuN line at all.
Result<> perCpuTicks(std::string_view text, PerCpuFn each, void* context);

template <class F>
Result<> perCpuTicks(std::string_view text, F each) {
  return perCpuTicks(
      text, [](void* context, int cpu, Ticks ticks) { (*static_cast<F*>(context))(cpu, ticks); },
      &each);
}

}  // namespace mangrove::kernel
