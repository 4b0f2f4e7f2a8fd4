#pragma once
// /proc/stat: how many ticks the CPUs worked. Busy ticks are user, nice, system, irq and softirq;
// guest time is inside user; idle, iowait and steal are not work of this machine.
//
//   Result<Ticks> all = nodeTicks(text);              // the line "cpu "
//   perCpuTicks(text, [&](int cpu, Ticks t) { … });   // the lines "cpuN"
//
// A tick is 1/CLK_TCK second. Pure functions, no allocation unless they fail.

#include <cstdint>
#include <map>
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

// How long a CPU served interrupts, of the time it was there at all (idle time included).
struct InterruptTicks {
  uint64_t interrupts = 0;  // irq and softirq
  uint64_t all = 0;
  bool operator==(const InterruptTicks&) const = default;
};
// The lines "cpuN"; those that are wrong are left out.
std::map<int, InterruptTicks> interruptTicks(std::string_view text);

}  // namespace mangrove::kernel
