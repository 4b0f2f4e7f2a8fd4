#include "workloads/cron_job.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/wire/write.h"
#include "workloads/cron_schedule.h"
#include "workloads/job.h"
#include "workloads/pods.h"

namespace mangrove::workloads {
namespace {

using std::chrono::seconds;
using Jobs = std::vector<std::shared_ptr<const Job>>;

constexpr int kTooManyMissed = 100;

// The most recent time that is due and was not used, and the next one to wait for.
struct Due {
  std::optional<WallTime> time;
  std::optional<WallTime> next;
  int missed = 0;
};

Due findDue(const CronSchedule& schedule, const CronJob& cron, Duration offset, WallTime now) {
  const auto shift = std::chrono::duration_cast<WallTime::duration>(offset);
  WallTime from = std::max(cron.meta.creationTimestamp, cron.lastScheduleTime);
  if (cron.startingDeadlineSeconds)
    from = std::max(from, now - seconds(*cron.startingDeadlineSeconds));
  Due due;
  auto at = schedule.next(from + shift);
  for (; at && *at - shift <= now; at = schedule.next(*at)) {
    due.time = *at - shift;
    ++due.missed;
  }
  if (at) due.next = *at - shift;
  return due;
}

Jobs activeOf(const Jobs& jobs) {
  Jobs active;
  for (const auto& job : jobs)
    if (endOf(*job).type.empty()) active.push_back(job);
  return active;
}

Removal removeJob(const Job& job) {
  Removal removal{{api::kind::kJob, std::string(job.meta.ns.view()), job.meta.name.str()}, {}};
  removal.options.uid = job.meta.uid;
  removal.options.propagationPolicy = "Background";
  return removal;
}

void forgetOld(const Jobs& jobs, std::string_view type, int32_t keep, Plan& plan) {
  Jobs ended;
  for (const auto& job : jobs)
    if (endOf(*job).type == type && !job->meta.isDeleting()) ended.push_back(job);
  std::sort(ended.begin(), ended.end(), [](const auto& a, const auto& b) {
    return std::pair(a->startTime, a->meta.name.view()) <
           std::pair(b->startTime, b->meta.name.view());
  });
  const size_t surplus =
      ended.size() - std::min(ended.size(), static_cast<size_t>(std::max(0, keep)));
  for (size_t i = 0; i < surplus; ++i) plan.remove.push_back(removeJob(*ended[i]));
}

// The name holds the minute, so that the same time never makes two jobs.
std::string jobName(const CronJob& cron, WallTime due) {
  const auto minute = std::chrono::floor<std::chrono::minutes>(due).time_since_epoch().count();
  return fmt::format("{}-{}", cron.meta.name.view(), minute);
}

Result<json::Object> jobBody(const CronJob& cron, WallTime due) {
  auto job = podFromTemplate(cron.jobTemplate.text, api::kind::kCronJob, cron.meta);
  if (!job) return job;
  (*job)["apiVersion"] = "batch/v1";
  (*job)["kind"] = "Job";
  json::Object& meta = sub(*job, "metadata");
  meta.erase("generateName");
  meta["name"] = jobName(cron, due);
  sub(meta, "annotations")["batch.kubernetes.io/cronjob-scheduled-timestamp"] = formatTime(due);
  return job;
}

// False: the time stays due.
bool start(const CronJob& cron, const Jobs& active, WallTime due, Plan& plan) {
  if (cron.concurrencyPolicy == "Forbid" && !active.empty()) {
    plan.notes.push_back({false, "JobAlreadyActive",
                          "Not starting job because prior execution is running and "
                          "concurrency policy is Forbid"});
    return false;
  }
  if (cron.concurrencyPolicy == "Replace")
    for (const auto& job : active) plan.remove.push_back(removeJob(*job));
  auto body = jobBody(cron, due);
  if (!body) {
    plan.notes.push_back({true, "FailedCreate", body.error().text()});
    return false;
  }
  plan.create.push_back({api::kind::kJob, std::string(cron.meta.ns.view()), std::move(*body)});
  return true;
}

json::Object statusOf(const CronJob& cron, const Jobs& jobs, const Jobs& active,
                      std::optional<WallTime> started) {
  json::Array list;
  for (const auto& job : active)
    list.push_back({{"apiVersion", "batch/v1"},
                    {"kind", "Job"},
                    {"namespace", job->meta.ns.view()},
                    {"name", job->meta.name.view()},
                    {"uid", job->meta.uid.str()}});
  json::Object status{{"active", list.empty() ? json::Value() : json::Value(std::move(list))}};
  if (started) status["lastScheduleTime"] = api::toJson(*started);
  WallTime last = cron.lastSuccessfulTime;
  for (const auto& job : jobs)
    if (endOf(*job).type == "Complete") last = std::max(last, job->completionTime);
  if (last != kZeroTime) status["lastSuccessfulTime"] = api::toJson(last);
  return status;
}

}  // namespace

Plan planCronJob(const CronJob& cron, const Jobs& jobs, const Result<Duration>& utcOffset,
                 std::string raw, WallTime now) {
  Plan plan;
  if (cron.meta.isDeleting()) return plan;
  forgetOld(jobs, "Complete", cron.keepSucceeded, plan);
  forgetOld(jobs, "Failed", cron.keepFailed, plan);
  const Jobs active = activeOf(jobs);
  std::optional<WallTime> started;
  auto schedule = CronSchedule::parse(cron.schedule);
  if (!schedule) {
    plan.notes.push_back({true, "UnparseableSchedule", schedule.error().text()});
  } else if (!utcOffset) {
    plan.notes.push_back({true, "UnknownTimeZone", utcOffset.error().text()});
  } else if (!cron.suspend) {
    const Due due = findDue(*schedule, cron, *utcOffset, now);
    if (due.missed >= kTooManyMissed)
      plan.notes.push_back({true, "TooManyMissedTimes",
                            "too many missed start times; set or decrease "
                            ".spec.startingDeadlineSeconds or check clock skew"});
    if (due.time && start(cron, active, *due.time, plan)) started = due.time;
    if (due.next) plan.lookAgainIn(*due.next - now + std::chrono::milliseconds(1));
  }
  plan.change.push_back(
      {{api::kind::kCronJob, std::string(cron.meta.ns.view()), cron.meta.name.str(), "status"},
       client::PatchType::kMerge,
       {{"status", statusOf(cron, jobs, active, started)}},
       std::move(raw)});
  return plan;
}

}  // namespace mangrove::workloads
