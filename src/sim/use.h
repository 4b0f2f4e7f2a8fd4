#pragma once
// What a pod wants at a moment: its service's curve and a little noise that follows from the seed
// alone, so that every policy meets the very same day. Pure functions, any thread.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sim/trace.h"

namespace mangrove::sim {

// From -1 to 1, the same for the same seed, pod and step.
inline double noiseAt(uint64_t seed, uint64_t pod, int64_t step) {
  uint64_t z = seed * 0x9E3779B97F4A7C15 + pod * 0xD1B54A32D192ED03 +
               static_cast<uint64_t>(step) * 0x8CB92BA72F3D8DD7;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1.0p-52 - 1;
}

// Cores that a replica wants: request 4, curve 0.5, noise 0.1 of +1 → 2.2.
inline double coresWanted(MilliCpu request, double curve, double noise, double chance) {
  return static_cast<double>(request.v) / 1000 * curve * std::max(1 + noise * chance, 0.0);
}

// Seven tenths of a service's memory are there at night as well.
inline int64_t bytesUsed(Bytes request, double memoryUse, double curve) {
  return std::llround(static_cast<double>(request.v) * memoryUse * (0.7 + 0.3 * curve));
}

// Of each step the largest value of the curve from then on, so far ahead: what an oracle sees.
std::vector<float> peaksAhead(const Curve& curve, Seconds step, Seconds length, Seconds ahead);

}  // namespace mangrove::sim
