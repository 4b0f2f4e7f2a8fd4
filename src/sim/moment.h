#pragma once
// One machine for a few seconds, request by request: where the steps of a simulated day see a
// minute's mean, this sees who runs on which CPU and who waits for it. It is how much a service
// stalls beside batch work that is placed in one way or another.
//
//   MomentResult got = liveThrough({.cpus = 2, .place = BatchPlace::kIdle, .requests = shots});
//   got.percentile(0.99), got.batchCores, got.stalled
//
// The model: a service has as many threads as the machine has CPUs and takes requests in the order in
// which they come; each computes, waits for a backend, computes again. Work of the machine itself comes
// first. Batch workers never sleep. Beside a service, in its class and with its weight, a batch worker
// keeps the CPU until a tick finds its slice used up. In the kernel's idle class it yields at once, but a
// thread that waits behind another one of its service is moved to a CPU with idle-class work on it
// at the next tick only, where it would go to an empty CPU at once.
//
// Pure; any thread.

#include <cstdint>
#include <vector>

namespace mangrove::sim {

struct MomentRequest {
  double at = 0;       // seconds after the start
  double work = 0;     // computing, half of it before the wait
  double backend = 0;  // seconds in which it waits for somebody else
};

enum class BatchPlace : uint8_t {
  kNone,    // the service alone
  kIdle,    // in the kernel's idle class: as best-effort pods under Mangrove
  kBeside,  // in the service's own pod
};

struct MomentPlan {
  int64_t cpus = 2;
  int64_t workers = 2;  // of batch
  BatchPlace place = BatchPlace::kNone;
  double system = 0;      // cores of what comes before everybody
  double slice = 0.003;   // seconds that a thread may run before others of its class
  double tick = 0.004;    // when that is looked at
  double overhead = 0.0;  // seconds of a request that are nobody's computing
  double length = 3;
  std::vector<MomentRequest> requests = {};  // by time
};

struct MomentResult {
  std::vector<double> latencies;  // seconds, ascending
  double batchCores = 0, serviceCores = 0;
  double stalled = 0;  // seconds in which requests could have computed and did not
  double percentile(double share) const;
};
MomentResult liveThrough(const MomentPlan& plan);

}  // namespace mangrove::sim
