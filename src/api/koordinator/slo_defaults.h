#pragma once
// What holds where a NodeSLO or its ConfigMap says nothing, and what a class that is switched off
// means: neutral values, as a machine without us has them.
//
//   NodeSloSpec slo = completed(received);     // every class has every block; nothing is unset
//
// One exception: lowLimitPercent stays unset where nobody says it. It means 0, but where a kernel
// has no watermarks of groups protection stands in for them, and a 0 that somebody said goes first.
//
// Pure; any thread.

#include "api/koordinator/node_slo.h"
#include "api/pod/classes.h"

namespace mangrove::api {

ResourceThresholdStrategy defaultThreshold();
CpuBurstStrategy defaultCpuBurst();
SystemStrategy defaultSystem();
// Every class with the recommended values of all its blocks, each switched off.
ResourceQosStrategy defaultResourceQos();

MemoryQos recommendedMemory(Qos qos);
MemoryQos neutralMemory();

// Defaults under what is said; a block with enable: false has the neutral values instead of its own.
NodeSloSpec completed(const NodeSloSpec& said);

}  // namespace mangrove::api
