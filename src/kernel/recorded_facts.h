#pragma once
// What only a running kernel can say, of a captured machine: its file `live-facts` has a line for each
// thing that worked there ("perf", "core-scheduling", "short-pressure"). Without the file nothing did.
//
//   LiveFacts facts = recordedFacts(root);
//
// Any thread.

#include "kernel/capabilities.h"
#include "kernel/sys_root.h"

namespace mangrove::kernel {

LiveFacts recordedFacts(const SysRoot& root);

}  // namespace mangrove::kernel
