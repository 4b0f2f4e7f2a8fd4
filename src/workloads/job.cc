#include "workloads/job.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/wire/write.h"
#include "workloads/job_count.h"
#include "workloads/job_indexes.h"
#include "workloads/pods.h"

namespace mangrove::workloads {
namespace {

using std::chrono::seconds;

constexpr int32_t kBurst = 500;
constexpr std::string_view kJobController = "kubernetes.io/job-controller";

// One job while it is planned.
struct Work {
  const Job& job;
  const JobCount& count;
  WallTime now;
  Plan plan;
  std::vector<WorkloadCondition> conditions;
  bool ended = false;
};

struct Failure {
  std::string reason, message;
};

std::optional<Failure> whyIndexesFailed(const Job& job, const JobCount& count) {
  const auto failed = static_cast<int32_t>(count.failedIndexes.size());
  if (!job.backoffLimitPerIndex || failed == 0) return std::nullopt;
  if (job.maxFailedIndexes && failed > *job.maxFailedIndexes)
    return Failure{"MaxFailedIndexesExceeded",
                   "Job has exceeded the specified maximal number of failed indexes"};
  if (failed + static_cast<int32_t>(count.indexes.size()) >= job.completions.value_or(0))
    return Failure{"FailedIndexes", "Job has failed indexes"};
  return std::nullopt;
}

std::optional<Failure> whyFailed(const Job& job, const JobCount& count, WallTime now) {
  if (!count.failJob.empty()) return Failure{"PodFailurePolicy", count.failJob};
  if (count.allFailed() > job.backoffLimit ||
      (count.restarts > 0 && count.restarts >= job.backoffLimit))
    return Failure{"BackoffLimitExceeded", "Job has reached the specified backoff limit"};
  if (job.activeDeadlineSeconds && job.startTime != kZeroTime && !job.suspend &&
      now >= job.startTime + seconds(*job.activeDeadlineSeconds))
    return Failure{"DeadlineExceeded", "Job was active longer than specified deadline"};
  return whyIndexesFailed(job, count);
}

bool hasEnough(const Job& job, const JobCount& count) {
  const int32_t done = count.allSucceeded(job.indexed);
  if (job.completions) return done >= *job.completions;
  return done > 0 && count.active.empty();
}

// Pods the controller itself ends are neither successes nor failures: they are set free first.
void dismiss(Work& work, size_t howMany) {
  Pods pods = work.count.active;
  sortForRemoval(pods);
  for (size_t i = 0; i < std::min(howMany, pods.size()); ++i) {
    if (isTracked(*pods[i])) work.plan.change.push_back(withoutTracking(*pods[i]));
    work.plan.remove.push_back(removePod(*pods[i]));
  }
}

void end(Work& work, std::string_view target, std::string_view type, const Failure& why) {
  setCondition(work.conditions, {std::string(target), "True", why.reason, why.message, {}, {}},
               work.now);
  dismiss(work, work.count.active.size());
  const bool settled = work.count.active.empty() && work.count.terminating == 0 &&
                       work.count.retries.empty() && work.count.uncountedFailed.empty() &&
                       work.count.uncountedSucceeded.empty();
  if (!settled) return;
  setCondition(work.conditions, {std::string(type), "True", why.reason, why.message, {}, {}},
               work.now);
  work.ended = true;
  work.plan.notes.push_back(type == "Complete" ? Note{false, "Completed", "Job completed"}
                                               : Note{true, why.reason, why.message});
}

json::Object indexedPod(json::Object pod, const Job& job, int32_t index, IndexFailures before) {
  const std::string text = std::to_string(index);
  json::Object& meta = sub(pod, "metadata");
  sub(meta, "annotations")[kCompletionIndex] = text;
  if (job.backoffLimitPerIndex) writeFailures(sub(meta, "annotations"), before);
  sub(meta, "labels")[kCompletionIndex] = text;
  meta["generateName"] = fmt::format("{}-{}-", job.meta.name.view(), index);
  json::Object& spec = sub(pod, "spec");
  if (!spec.contains("hostname"))
    spec["hostname"] = fmt::format("{}-{}", job.meta.name.view(), index);
  for (std::string_view list : {"containers", "initContainers"}) {
    auto* containers = spec.if_contains(list);
    if (!containers || !containers->is_array()) continue;
    for (auto& container : containers->get_array()) {
      json::Value& env = container.get_object()["env"];
      if (!env.is_array()) env.emplace_array();
      env.get_array().push_back({{"name", "JOB_COMPLETION_INDEX"}, {"value", text}});
    }
  }
  return pod;
}

// How long the index of a failed pod still waits for its next one; zero: not at all.
Duration waitOf(const JobCount& count, int32_t index, WallTime now) {
  const auto retry = count.retries.find(index);
  if (retry == count.retries.end()) return Duration::zero();
  const Duration delay = retryDelay(retry->second.before.counted);
  const WallTime due =
      retry->second.failedAt + std::chrono::duration_cast<WallTime::duration>(delay);
  return due > now ? Duration(due - now) : Duration::zero();
}

std::vector<int32_t> freeIndexes(Work& work, int32_t howMany) {
  const JobCount& count = work.count;
  std::set<int32_t> taken = count.indexes;
  taken.insert(count.failedIndexes.begin(), count.failedIndexes.end());
  taken.insert(count.goingIndexes.begin(), count.goingIndexes.end());
  for (const auto& pod : count.active) taken.insert(completionIndex(*pod));
  std::vector<int32_t> out;
  for (int32_t i = 0; i < work.job.completions.value_or(0) && int32_t(out.size()) < howMany; ++i) {
    if (taken.contains(i)) continue;
    const Duration wait = waitOf(count, i, work.now);
    if (wait == Duration::zero()) out.push_back(i);
    work.plan.lookAgainIn(wait);
  }
  return out;
}

IndexFailures failuresOf(const JobCount& count, int32_t index) {
  const auto retry = count.retries.find(index);
  return retry == count.retries.end() ? IndexFailures{} : retry->second.before;
}

void add(Work& work, int32_t howMany) {
  const Job& job = work.job;
  auto pod = podFromTemplate(job.podTemplate.text, api::kind::kJob, job.meta);
  if (!pod) return work.plan.notes.push_back({true, "FailedCreate", pod.error().text()});
  json::Value& finalizers = sub(*pod, "metadata")["finalizers"];
  if (!finalizers.is_array()) finalizers.emplace_array();
  finalizers.get_array().push_back(json::Value(kJobTracking));
  const std::string ns(job.meta.ns.view());
  if (job.indexed) {
    for (int32_t index : freeIndexes(work, howMany))
      work.plan.create.push_back(
          {api::kind::kPod, ns, indexedPod(*pod, job, index, failuresOf(work.count, index))});
    return;
  }
  for (int32_t i = 0; i < howMany; ++i) work.plan.create.push_back({api::kind::kPod, ns, *pod});
}

int32_t wantedActive(const Job& job, const JobCount& count) {
  const int32_t done =
      count.allSucceeded(job.indexed) + static_cast<int32_t>(count.failedIndexes.size());
  const auto active = static_cast<int32_t>(count.active.size());
  if (!job.completions) return done > 0 ? active : job.parallelism;
  return std::min(job.parallelism, *job.completions - done);
}

void run(Work& work) {
  const auto active = static_cast<int32_t>(work.count.active.size());
  const int32_t going = replacesOnlyFailed(work.job) ? work.count.terminating : 0;
  const int32_t missing = wantedActive(work.job, work.count) - active - going;
  if (missing < 0)
    return dismiss(work,
                   static_cast<size_t>(active - std::max(0, wantedActive(work.job, work.count))));
  if (missing == 0) return;
  const Duration delay = retryDelay(work.count.failuresInARow);
  const WallTime mayStart =
      work.count.lastFailure + std::chrono::duration_cast<WallTime::duration>(delay);
  const bool waitsAsAWhole = work.count.failuresInARow > 0 && !work.job.backoffLimitPerIndex;
  if (waitsAsAWhole && mayStart > work.now) return work.plan.lookAgainIn(mayStart - work.now);
  add(work, std::min(missing, kBurst));
}

void suspend(Work& work) {
  dismiss(work, work.count.active.size());
  const auto* known = findCondition(work.conditions, "Suspended");
  if (!known || known->status != "True")
    work.plan.notes.push_back({false, "Suspended", "Job suspended"});
  setCondition(work.conditions, {"Suspended", "True", "JobSuspended", "Job suspended", {}, {}},
               work.now);
}

void resume(Work& work) {
  const auto* known = findCondition(work.conditions, "Suspended");
  if (!known || known->status == "False") return;
  setCondition(work.conditions, {"Suspended", "False", "JobResumed", "Job resumed", {}, {}},
               work.now);
  work.plan.notes.push_back({false, "Resumed", "Job resumed"});
}

void decide(Work& work) {
  if (const auto* doomed = findCondition(work.conditions, "FailureTarget"))
    return end(work, "FailureTarget", "Failed", {doomed->reason, doomed->message});
  if (const auto* done = findCondition(work.conditions, "SuccessCriteriaMet"))
    return end(work, "SuccessCriteriaMet", "Complete", {done->reason, done->message});
  if (auto failure = whyFailed(work.job, work.count, work.now))
    return end(work, "FailureTarget", "Failed", *failure);
  if (auto rule = metSuccessPolicy(work.job.successPolicy.text, work.count.indexes))
    return end(work, "SuccessCriteriaMet", "Complete", {"SuccessPolicy", *rule});
  if (hasEnough(work.job, work.count))
    return end(work, "SuccessCriteriaMet", "Complete",
               {"CompletionsReached", "Reached expected number of succeeded pods"});
  if (work.job.suspend) return suspend(work);
  resume(work);
  run(work);
  if (work.job.activeDeadlineSeconds && work.job.startTime != kZeroTime)
    work.plan.lookAgainIn(work.job.startTime + seconds(*work.job.activeDeadlineSeconds) - work.now);
}

json::Value uids(const std::vector<std::string>& list) {
  return list.empty() ? json::Value() : api::toJson(list);
}

json::Object statusOf(const Work& work) {
  const JobCount& count = work.count;
  json::Object status;
  putCount(status, "active", work.ended ? 0 : static_cast<int64_t>(count.active.size()));
  putCount(status, "succeeded",
           work.job.indexed ? static_cast<int64_t>(count.indexes.size()) : count.succeeded);
  putCount(status, "failed", count.failed);
  status["ready"] = work.ended ? 0 : count.ready;
  status["terminating"] = count.terminating;
  status["uncountedTerminatedPods"] = json::Object{{"succeeded", uids(count.uncountedSucceeded)},
                                                   {"failed", uids(count.uncountedFailed)}};
  if (work.job.indexed && !count.indexes.empty())
    status["completedIndexes"] = formatIndexes(count.indexes);
  if (work.job.backoffLimitPerIndex) status["failedIndexes"] = formatIndexes(count.failedIndexes);
  if (work.job.suspend && !work.ended)
    status["startTime"] = nullptr;
  else if (work.job.startTime == kZeroTime)
    status["startTime"] = api::toJson(work.now);
  if (work.ended && findCondition(work.conditions, "Complete"))
    status["completionTime"] = api::toJson(work.now);
  auto conditions = work.conditions;
  json::Array list;
  for (auto& value : conditionsJson(conditions)) {
    json::Object one = value.get_object();
    one["lastProbeTime"] = one["lastUpdateTime"];  // this kind's name for it
    one.erase("lastUpdateTime");
    list.push_back(std::move(one));
  }
  status["conditions"] = list.empty() ? json::Value() : json::Value(std::move(list));
  return status;
}

// A finished job: its pods are set free, and it goes when its time is up.
Plan afterTheEnd(const Job& job, const JobEnd& ended, const Pods& pods, WallTime now) {
  Plan plan;
  for (const auto& pod : pods)
    if (isTracked(*pod)) plan.change.push_back(withoutTracking(*pod));
  if (!job.ttlSecondsAfterFinished || job.meta.isDeleting()) return plan;
  const WallTime due = ended.at + seconds(*job.ttlSecondsAfterFinished);
  if (due > now) {
    plan.lookAgainIn(due - now);
    return plan;
  }
  Removal removal{{api::kind::kJob, std::string(job.meta.ns.view()), job.meta.name.str()}, {}};
  removal.options.uid = job.meta.uid;
  removal.options.propagationPolicy = "Foreground";
  plan.remove.push_back(std::move(removal));
  return plan;
}

// Orphans and pods of a job that is going must not be held back by our finalizer.
Plan whileDeleting(const Pods& pods) {
  Plan plan;
  for (const auto& pod : pods)
    if (isTracked(*pod)) plan.change.push_back(withoutTracking(*pod));
  return plan;
}

}  // namespace

JobEnd endOf(const Job& job) {
  for (const char* type : {"Complete", "Failed"})
    if (const auto* found = findCondition(job.conditions, type); found && found->status == "True")
      return {type, found->lastTransitionTime};
  return {};
}

Duration retryDelay(int32_t failuresInARow) {
  if (failuresInARow <= 0) return Duration::zero();
  const int shift = std::min(failuresInARow - 1, 10);
  return std::min<Duration>(seconds(10) * (1 << shift), seconds(600));
}

Plan planJob(const Job& job, const Pods& pods, std::string raw, WallTime now) {
  if (!job.managedBy.empty() && job.managedBy != kJobController) return {};
  if (auto ended = endOf(job); !ended.type.empty()) return afterTheEnd(job, ended, pods, now);
  if (job.meta.isDeleting()) return whileDeleting(pods);
  const JobCount count = countPods(job, pods);
  Work work{job, count, now, {}, job.conditions, false};
  for (const auto* pod : count.toRelease) work.plan.change.push_back(withoutTracking(*pod));
  decide(work);
  json::Object body{{"metadata", json::Object{{"resourceVersion", job.meta.resourceVersion}}},
                    {"status", statusOf(work)}};
  work.plan.change.push_back(
      {{api::kind::kJob, std::string(job.meta.ns.view()), job.meta.name.str(), "status"},
       client::PatchType::kMerge,
       std::move(body),
       std::move(raw)});
  return std::move(work.plan);
}

}  // namespace mangrove::workloads
