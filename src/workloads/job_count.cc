#include "workloads/job_count.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/core.h>

#include "base/text/strings.h"
#include "json/view.h"
#include "workloads/job_indexes.h"
#include "workloads/pods.h"

namespace mangrove::workloads {
namespace {

bool isFinished(const api::Pod& pod) {
  return api::isTerminated(pod) || pod.meta.isDeleting();
}

bool hasSucceeded(const api::Pod& pod) {
  return pod.status.phase == api::PodPhase::kSucceeded;
}

WallTime finishedAt(const api::Pod& pod) {
  WallTime last = pod.meta.creationTimestamp;
  for (const auto& container : pod.status.containers)
    if (container.isTerminated()) last = std::max(last, container.state.finishedAt);
  return last;
}

// onExitCodes of one rule against the containers of a failed pod.
const api::ContainerStatus* matchingExit(json::View rule, const api::Pod& pod) {
  const auto wanted = rule["containerName"].string();
  const bool in = rule["operator"].string() == "In";
  for (const auto& container : pod.status.containers) {
    if (!container.isTerminated() || container.state.exitCode == 0) continue;
    if (wanted && container.name.view() != *wanted) continue;
    bool listed = false;
    for (json::View value : rule["values"].elements())
      listed |= value.integer() == container.state.exitCode;
    if (listed == in) return &container;
  }
  return nullptr;
}

bool matchesCondition(json::View patterns, const api::Pod& pod) {
  for (json::View pattern : patterns.elements()) {
    const auto* found =
        api::findCondition(pod.status.conditions, pattern["type"].string().value_or(""));
    if (found && api::truthName(found->status) == pattern["status"].string().value_or("True"))
      return true;
  }
  return false;
}

std::optional<FailedPod> tryRule(json::View rule, size_t index, const api::Pod& pod) {
  const std::string key = fmt::format("{}/{}", pod.meta.ns.view(), pod.meta.name.view());
  const auto action = rule["action"].string().value_or("Count");
  const PodVerdict verdict = action == "FailJob"     ? PodVerdict::kFailJob
                             : action == "FailIndex" ? PodVerdict::kFailIndex
                             : action == "Ignore"    ? PodVerdict::kIgnore
                                                     : PodVerdict::kCount;
  if (rule["onExitCodes"].exists()) {
    const auto* container = matchingExit(rule["onExitCodes"], pod);
    if (!container) return std::nullopt;
    return FailedPod{verdict, fmt::format("Container {} for pod {} failed with exit code {} "
                                          "matching {} rule at index {}",
                                          container->name.view(), key, container->state.exitCode,
                                          action, index)};
  }
  if (!matchesCondition(rule["onPodConditions"], pod)) return std::nullopt;
  return FailedPod{verdict, fmt::format("Pod {} has a condition matching {} rule at index {}", key,
                                        action, index)};
}

void addIndex(JobCount& count, const api::Pod& pod) {
  if (int32_t index = completionIndex(pod); index >= 0) count.indexes.insert(index);
}

bool isEnding(const Job& job) {
  return findCondition(job.conditions, "FailureTarget") != nullptr ||
         findCondition(job.conditions, "SuccessCriteriaMet") != nullptr;
}

// Uids whose pods are free or gone are counted for good, the others stay as they are.
void settle(const std::vector<std::string>& uids,
            const std::unordered_map<std::string, const api::Pod*>& byUid, int32_t& total,
            std::vector<std::string>& uncounted, JobCount& count) {
  for (const auto& uid : uids) {
    auto at = byUid.find(uid);
    if (at == byUid.end() || !isTracked(*at->second)) {
      ++total;
    } else {
      uncounted.push_back(uid);
      count.toRelease.push_back(at->second);
    }
  }
}

// By index, how often it had failed when its last pod was made.
using Newest = std::map<int32_t, int32_t>;
Newest newestOf(const Job& job, const Pods& pods) {
  Newest out;
  if (!job.backoffLimitPerIndex) return out;
  for (const auto& pod : pods) {
    int32_t& most = out[completionIndex(*pod)];
    most = std::max(most, failuresBefore(*pod).all());
  }
  return out;
}

// With backoffLimitPerIndex the failures of an index are written down in its pods alone, so a failed
// one stays uncounted until another has its place, or the index is done or given up.
bool waitsForSuccessor(const Job& job, const api::Pod& pod, PodVerdict verdict,
                       const Newest& newest, JobCount& count) {
  const int32_t index = completionIndex(pod);
  if (!job.backoffLimitPerIndex || index < 0) return false;
  IndexFailures failures = failuresBefore(pod);
  const bool isIgnored = verdict == PodVerdict::kIgnore;
  const bool isLast = failures.counted >= *job.backoffLimitPerIndex && !isIgnored;
  if (isLast || verdict == PodVerdict::kFailIndex) count.failedIndexes.insert(index);
  const auto last = newest.find(index);
  const bool isReplaced = last != newest.end() && last->second > failures.all();
  if (isEnding(job) || isReplaced || count.indexes.contains(index) ||
      count.failedIndexes.contains(index))
    return false;
  ++(isIgnored ? failures.ignored : failures.counted);
  count.retries[index] = {failures, finishedAt(pod)};
  return true;
}

void countNew(const Job& job, const api::Pod& pod, const Newest& newest, JobCount& count) {
  const std::string uid = pod.meta.uid.str();
  auto known = [&](const std::vector<std::string>& uids) {
    return std::find(uids.begin(), uids.end(), uid) != uids.end();
  };
  if (known(job.uncountedSucceeded) || known(job.uncountedFailed)) return;
  if (hasSucceeded(pod)) {
    count.uncountedSucceeded.push_back(uid);
    addIndex(count, pod);
    return;
  }
  const FailedPod judged = judge(job.podFailurePolicy.text, pod);
  if (judged.verdict == PodVerdict::kFailJob) count.failJob = judged.message;
  if (waitsForSuccessor(job, pod, judged.verdict, newest, count)) return;
  if (judged.verdict == PodVerdict::kIgnore)
    count.toRelease.push_back(&pod);
  else
    count.uncountedFailed.push_back(uid);
}

void countRunning(const std::shared_ptr<const api::Pod>& pod, JobCount& count) {
  count.active.push_back(pod);
  count.ready += isReady(*pod) ? 1 : 0;
  for (const auto& container : pod->status.containers) count.restarts += container.restartCount;
}

void countFailures(const Pods& pods, JobCount& count) {
  WallTime lastSuccess = kZeroTime;
  for (const auto& pod : pods)
    if (hasSucceeded(*pod)) lastSuccess = std::max(lastSuccess, finishedAt(*pod));
  for (const auto& pod : pods) {
    if (pod->status.phase != api::PodPhase::kFailed || finishedAt(*pod) <= lastSuccess) continue;
    ++count.failuresInARow;
    count.lastFailure = std::max(count.lastFailure, finishedAt(*pod));
  }
}

}  // namespace

FailedPod judge(std::string_view policyText, const api::Pod& pod) {
  if (policyText.empty() || pod.status.phase != api::PodPhase::kFailed) return {};
  json::Doc doc;
  auto policy = doc.parse(policyText);
  if (!policy) return {};
  size_t index = 0;
  for (json::View rule : (*policy)["rules"].elements())
    if (auto verdict = tryRule(rule, index++, pod)) return *verdict;
  return {};
}

bool isTracked(const api::Pod& pod) {
  return std::any_of(pod.meta.finalizers.begin(), pod.meta.finalizers.end(),
                     [](Interned one) { return one.view() == kJobTracking; });
}

Amendment withoutTracking(const api::Pod& pod) {
  json::Array rest;
  for (Interned one : pod.meta.finalizers)
    if (one.view() != kJobTracking) rest.push_back(json::Value(one.view()));
  Amendment out;
  out.ref = {api::kind::kPod, std::string(pod.meta.ns.view()), pod.meta.name.str()};
  out.body["metadata"] = json::Object{{"uid", pod.meta.uid.str()}, {"finalizers", std::move(rest)}};
  return out;
}

JobCount countPods(const Job& job, const Pods& pods) {
  JobCount count;
  count.succeeded = job.succeeded;
  count.failed = job.failed;
  count.indexes = parseIndexes(job.completedIndexes);
  count.failedIndexes = parseIndexes(job.failedIndexes);
  std::unordered_map<std::string, const api::Pod*> byUid;
  for (const auto& pod : pods) byUid.emplace(pod->meta.uid.str(), pod.get());
  const Newest newest = newestOf(job, pods);
  settle(job.uncountedSucceeded, byUid, count.succeeded, count.uncountedSucceeded, count);
  settle(job.uncountedFailed, byUid, count.failed, count.uncountedFailed, count);
  for (const auto& pod : pods) {
    const bool isGoing = pod->meta.isDeleting() && !api::isTerminated(*pod);
    const bool keepsPlace = isGoing && replacesOnlyFailed(job) && !pod->nodeName.empty();
    count.terminating += isGoing ? 1 : 0;
    if (keepsPlace) count.goingIndexes.insert(completionIndex(*pod));
    if (!isFinished(*pod))
      countRunning(pod, count);
    else if (isTracked(*pod) && !keepsPlace)
      countNew(job, *pod, newest, count);
  }
  countFailures(pods, count);
  return count;
}

}  // namespace mangrove::workloads
