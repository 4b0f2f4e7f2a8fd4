// Work that ends: Jobs and CronJobs.

#include <optional>

#include <fmt/core.h>

#include "apiserver/output/age.h"
#include "apiserver/output/columns.h"
#include "base/text/time_text.h"

namespace mangrove::apiserver {

namespace {

constexpr Column kJobColumns[] = {kName,
                                  {"Status", "string", "Whether it runs, is held, or how it ended"},
                                  {"Completions", "string", "Pods that succeeded, of those wanted"},
                                  {"Duration", "string", "How long it ran or has been running"},
                                  kAge,
                                  kContainers,
                                  kImages,
                                  kSelector};

std::string completionsText(const TableRow& row) {
  const int64_t succeeded = intOf(row.status()["succeeded"]);
  if (auto wanted = row.spec()["completions"].integer())
    return fmt::format("{}/{}", succeeded, *wanted);
  const int64_t parallelism = intOf(row.spec()["parallelism"]);
  return parallelism > 1 ? fmt::format("{}/1 of {}", succeeded, parallelism)
                         : fmt::format("{}/1", succeeded);
}

std::optional<WallTime> timeOf(json::View view) {
  auto text = view.string();
  if (!text) return std::nullopt;
  auto time = parseTime(*text);
  return time ? std::optional(*time) : std::nullopt;
}

std::string durationText(const TableRow& row) {
  const auto start = timeOf(row.status()["startTime"]);
  if (!start) return "";
  return humanDuration(timeOf(row.status()["completionTime"]).value_or(row.now) - *start);
}

std::string_view jobStatus(const TableRow& row) {
  if (conditionIsTrue(row.status(), "Complete")) return "Complete";
  if (conditionIsTrue(row.status(), "Failed")) return "Failed";
  if (row.deleting()) return "Terminating";
  if (conditionIsTrue(row.status(), "Suspended")) return "Suspended";
  if (conditionIsTrue(row.status(), "FailureTarget")) return "FailureTarget";
  if (conditionIsTrue(row.status(), "SuccessCriteriaMet")) return "SuccessCriteriaMet";
  return "Running";
}

void jobCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.text(jobStatus(row));
  out.text(completionsText(row));
  out.text(durationText(row));
  out.text(row.age());
  containerCells(row.spec()["template"]["spec"], out);
  out.text(selectorText(row.spec()["selector"]));
}

constexpr Column kCronJobColumns[] = {
    kName,
    {"Schedule", "string", "When it starts jobs, in cron's words"},
    {"Timezone", "string", "Whose clock the schedule follows"},
    {"Suspend", "boolean", "Whether it starts no jobs for now"},
    {"Active", "integer", "Jobs that run now"},
    {"Last Schedule", "string", "Time since it last started a job"},
    kAge,
    kContainers,
    kImages,
    kSelector};

void cronJobCells(const TableRow& row, Cells& out) {
  const json::View last = row.status()["lastScheduleTime"];
  const json::View job = row.spec()["jobTemplate"]["spec"];
  const json::View suspend = row.spec()["suspend"];
  out.text(row.name());
  out.text(textOf(row.spec()["schedule"]));
  out.text(textOf(row.spec()["timeZone"], kNone));
  out.text(!suspend.isBool() ? kUnset : flagOf(suspend) ? "True" : "False");
  out.number(static_cast<int64_t>(row.status()["active"].size()));
  out.text(last.isString() ? ageSince(last, row.now) : std::string(kNone));
  out.text(row.age());
  containerCells(job["template"]["spec"], out);
  out.text(selectorText(job["selector"]));
}

constexpr TableKind kTables[] = {
    {"batch", "Job", kJobColumns, &jobCells},
    {"batch", "CronJob", kCronJobColumns, &cronJobCells},
};

}  // namespace

std::span<const TableKind> batchTables() {
  return kTables;
}

}  // namespace mangrove::apiserver
