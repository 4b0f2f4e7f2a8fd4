#pragma once
// GPU requests in the spelling the scheduler reads: koordinator.sh/gpu becomes gpu-core and
// gpu-memory-ratio, and gpu.shared says over how many cards they are spread.
//
//   {gpu: 200} → {gpu-core: 200, gpu-memory-ratio: 200, gpu.shared: 2}
//
// Pure; one thread at a time per value.

#include "json/value.h"

namespace mangrove::manager {

void expandGpuRequests(json::Object& podSpec);

}  // namespace mangrove::manager
