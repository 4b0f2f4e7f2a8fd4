#pragma once
// Job: runs pods until enough of them succeeded, too many failed, or time is up. Pure functions,
// any thread.

#include <string>

#include "workloads/objects.h"
#include "workloads/plan.h"

namespace mangrove::workloads {

// `pods`: the job's own pods. `raw`: the job's JSON.
Plan planJob(const Job& job, const Pods& pods, std::string raw, WallTime now);

// "" while it runs, else "Complete" or "Failed", and when that came.
struct JobEnd {
  std::string type;
  WallTime at = kZeroTime;
};
JobEnd endOf(const Job& job);

// How long after its last failure a job waits before it tries again: 10 s, doubled, at most 10 min.
Duration retryDelay(int32_t failuresInARow);

}  // namespace mangrove::workloads
