#pragma once
// How a Job counts its pods exactly once although each step may be cut short: a finished pod is
// held by a finalizer; its uid is written into the status as "uncounted"; the finalizer is taken
// away; and only a uid whose pod is free or gone moves into the totals. Pure functions, any thread.

#include <set>
#include <string>
#include <vector>

#include "workloads/objects.h"
#include "workloads/plan.h"

namespace mangrove::workloads {

inline constexpr std::string_view kJobTracking = "batch.kubernetes.io/job-tracking";
inline constexpr std::string_view kCompletionIndex = "batch.kubernetes.io/job-completion-index";

// What a finished pod means to its job.
enum class PodVerdict { kCount, kIgnore, kFailJob };
struct FailedPod {
  PodVerdict verdict = PodVerdict::kCount;
  std::string message;  // for kFailJob
};
// By spec.podFailurePolicy; "" counts every failure.
FailedPod judge(std::string_view policyText, const api::Pod& pod);

struct JobCount {
  int32_t succeeded = 0, failed = 0;  // as the status should say: counted for good
  std::vector<std::string> uncountedSucceeded, uncountedFailed;
  std::set<int32_t> indexes;               // completed ones of an Indexed job
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
JobCount countPods(const Job& job, const Pods& pods);

int32_t completionIndex(const api::Pod& pod);  // -1: none
bool isTracked(const api::Pod& pod);
Amendment withoutTracking(const api::Pod& pod);

}  // namespace mangrove::workloads
