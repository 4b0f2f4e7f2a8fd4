#pragma once
// Pressure stall information: which share of the time some or all tasks waited for a resource.
//
//   Result<Pressure> p = parsePressure(text);           // cpu.pressure, memory.pressure, …
//   p->some.avg10                                        // percent
//
// Pure, no allocation unless it fails. Triggers are in psi_trigger.h.

#include <string_view>

#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::kernel {

struct Stall {
  double avg10 = 0, avg60 = 0, avg300 = 0;  // percent
  Duration total{};
  bool operator==(const Stall&) const = default;
};

struct Pressure {
  Stall some;
  Stall full;
  bool fullSupported = false;  // older kernels have no "full" for cpu; `full` is then all zero
  bool operator==(const Pressure&) const = default;
};

// The line "some" must be there; any other first word than some and full is an error.
Result<Pressure> parsePressure(std::string_view text);

}  // namespace mangrove::kernel
