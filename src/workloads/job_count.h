#pragma once
// How a Job counts its pods exactly once although each step may be cut short: a finished pod is
// held by a finalizer; its uid is written into the status as "uncounted"; the finalizer is taken
// away; and only a uid whose pod is free or gone moves into the totals. Pure functions, any thread.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "workloads/job_indexes.h"
#include "workloads/objects.h"
#include "workloads/plan.h"

namespace mangrove::workloads {

inline constexpr std::string_view kJobTracking = "batch.kubernetes.io/job-tracking";

// What a finished pod means to its job.
enum class PodVerdict { kCount, kIgnore, kFailIndex, kFailJob };
struct FailedPod {
  PodVerdict verdict = PodVerdict::kCount;
  std::string message;  // for kFailJob
};
// By spec.podFailurePolicy; "" counts every failure.
FailedPod judge(std::string_view policyText, const api::Pod& pod);

// What the pod that takes the place of a failed one is told, and when the failed one ended.
struct IndexRetry {
  IndexFailures before;
  WallTime failedAt = kZeroTime;
};

struct JobCount {
  int32_t succeeded = 0, failed = 0;  // as the status should say: counted for good
  std::vector<std::string> uncountedSucceeded, uncountedFailed;
  std::set<int32_t> indexes;               // completed ones of an Indexed job
  std::set<int32_t> failedIndexes;         // given up by backoffLimitPerIndex or FailIndex
  std::map<int32_t, IndexRetry> retries;   // failed, not given up, nobody in their place yet
  std::set<int32_t> goingIndexes;          // of pods that go and keep their place until the end
  std::string failJob;                     // a failure policy ends the job: why
  std::vector<const api::Pod*> toRelease;  // their finalizer can go
  Pods active;                             // neither finished nor being deleted
  int32_t ready = 0, terminating = 0;
  int32_t restarts = 0;        // of containers in active pods
  int32_t failuresInARow = 0;  // since the last success
  WallTime lastFailure = kZeroTime;

  int32_t allSucceeded(bool indexed) const {
    return indexed ? static_cast<int32_t>(indexes.size())
                   : succeeded + static_cast<int32_t>(uncountedSucceeded.size());
  }
  int32_t allFailed() const { return failed + static_cast<int32_t>(uncountedFailed.size()); }
};
// Whether a pod that is being deleted keeps its place until it has ended.
inline bool replacesOnlyFailed(const Job& job) {
  return job.podReplacementPolicy == "Failed";
}
JobCount countPods(const Job& job, const Pods& pods);

bool isTracked(const api::Pod& pod);
Amendment withoutTracking(const api::Pod& pod);

}  // namespace mangrove::workloads
