#pragma once
// Who used the machine's CPUs during a run: all of it, the benchmark's cgroups, this process. The rest
// is strangers', and a run with much of that says little.
//
//   const CpuAccount before = accountOf(pods);
//   …
//   strangersBetween(before, accountOf(pods))            // cores

#include "agent/bench/pod_cgroups.h"
#include "base/number/units.h"

namespace mangrove::agent {

struct CpuAccount {
  MonoTime at{};
  double machine = 0, tree = 0, own = 0;  // CPU seconds
};
CpuAccount accountOf(const PodCgroups& pods);
double strangersBetween(const CpuAccount& before, const CpuAccount& after);

}  // namespace mangrove::agent
