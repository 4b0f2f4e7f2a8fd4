#pragma once
// What a case costs a server without any scheduling: the same number of pods of the same shape on
// the same nodes, and for each of them the writes that Kubernetes' scheduler sends for it.
//
//   auto raw = measureRaw(config, *findCase("PreemptionBasic"), options);
//   raw->perSecond, raw->cpuMicros
//
// A pod of most cases is a binding. One of PreemptionBasic is eight writes: three victims are
// marked and deleted, the pod gets its nomination and its binding; ours leaves the nomination out
// when the binding follows within a second (core/held_statuses.h). In SchedulingWithMixedChurn a
// node comes and goes with every hundredth pod. Blocks.

#include "client/bench_api/raw_bindings.h"
#include "scheduler/bench/bench.h"
#include "scheduler/bench/cases.h"

namespace mangrove::scheduler {

inline constexpr size_t kChurnEvery = 100;  // pods bound
inline constexpr size_t kFirstChurnedNode = 1'000'000;

struct RawResult {
  double perSecond = 0;  // pods
  double cpuMicros = 0;  // of the generator per pod
};

// The requests of one pod; pure.
client::RawBindingPlan rawPlan(const BenchCase& bench, const BenchOptions& options);
Result<RawResult> measureRaw(const client::ClientConfig& config, const BenchCase& bench,
                             const BenchOptions& options);

}  // namespace mangrove::scheduler
