#pragma once
// What a case costs a server without any scheduling: the same number of pods of the same shape on
// the same nodes, and for each of them the writes that Kubernetes' scheduler sends for it.
//
//   auto raw = RawSide::connect(config, *findCase("PreemptionBasic"), options);
//   (*raw)->slice(500)->seconds
//
// A pod of most cases is a binding. One of PreemptionBasic is eight writes: three victims are
// marked and deleted, the pod gets its nomination and its binding; ours leaves the nomination out
// when the binding follows within a second (core/held_statuses.h). In SchedulingWithMixedChurn a
// node comes and goes with every hundredth pod. Blocks.

#include "client/bench/api/raw_bindings.h"
#include "scheduler/bench/bench.h"
#include "scheduler/bench/cases.h"
#include "scheduler/bench/turns.h"

namespace mangrove::scheduler {

inline constexpr size_t kChurnEvery = 100;  // pods bound
inline constexpr size_t kFirstChurnedNode = 1'000'000;

// The requests of one pod; pure.
client::RawBindingPlan rawPlan(const BenchCase& bench, const BenchOptions& options);

class RawSide {
 public:
  static Result<std::unique_ptr<RawSide>> connect(const client::ClientConfig& config,
                                                  const BenchCase& bench,
                                                  const BenchOptions& options);
  Result<Slice> slice(size_t pods);

 private:
  explicit RawSide(std::unique_ptr<client::RawBindings> bindings)
      : bindings_(std::move(bindings)) {}
  std::unique_ptr<client::RawBindings> bindings_;
};

}  // namespace mangrove::scheduler
