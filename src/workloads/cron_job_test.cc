// When a CronJob starts a Job, and when it does not, as a table.
#include "workloads/cron_job.h"

#include <gtest/gtest.h>

#include "workloads/testing/plan_text.h"

namespace mangrove::workloads {
namespace {

using Jobs = std::vector<std::shared_ptr<const Job>>;

WallTime at(const char* time) {
  return *parseTime(fmt::format("2026-03-01T{}Z", time));
}

// Made at 11:50, every ten minutes.
std::shared_ptr<const CronJob> cron(const std::string& spec, const std::string& status) {
  return object<CronJob>(fmt::format(
      R"({{"metadata":{{"name":"c","namespace":"d","uid":"u","creationTimestamp":"2026-03-01T11:50:00Z"}},"spec":{{"schedule":"*/10 * * * *","jobTemplate":{{"spec":{{}}}}{}{}}},"status":{{{}}}}})",
      spec.empty() ? "" : ",", spec, status));
}

// One letter a Job: r runs, c is complete, f has failed; named by their place.
Jobs jobs(const std::string& letters) {
  Jobs out;
  for (size_t i = 0; i < letters.size(); ++i) {
    const char* end = letters[i] == 'c'   ? R"({"type":"Complete","status":"True"})"
                      : letters[i] == 'f' ? R"({"type":"Failed","status":"True"})"
                                          : "";
    out.push_back(object<Job>(fmt::format(
        R"({{"metadata":{{"name":"j{}","namespace":"d","uid":"j{}"}},"spec":{{}},"status":{{"startTime":"2026-03-01T11:0{}:00Z","conditions":[{}]}}}})",
        i, i, i, end)));
  }
  return out;
}

struct Row {
  const char* what;
  std::string spec, status, jobs;
  const char* now;
  const char* plan;
};

TEST(CronJob, StartsWhatIsDue) {
  const char* last = R"("lastScheduleTime":"2026-03-01T12:00:00Z")";
  const Row rows[] = {
      {"not yet", "", last, "", "12:05:00", "again 5m0.001s"},
      {"due", "", last, "", "12:10:00", "create 1 Job | again 10m0.001s"},
      {"several times missed: once", "", last, "", "12:45:00", "create 1 Job | again 5m0.001s"},
      {"too late for it", R"("startingDeadlineSeconds":60)", last, "", "12:15:00",
       "again 5m0.001s"},
      {"just in time", R"("startingDeadlineSeconds":60)", last, "", "12:10:30",
       "create 1 Job | again 9m30.001s"},
      {"suspended", R"("suspend":true)", last, "", "12:10:00", ""},
      {"beside one that runs", "", last, "r", "12:10:00", "create 1 Job | again 10m0.001s"},
      {"forbidden beside one that runs", R"("concurrencyPolicy":"Forbid")", last, "r", "12:10:00",
       "note JobAlreadyActive | again 10m0.001s"},
      {"in its place", R"("concurrencyPolicy":"Replace")", last, "r", "12:10:00",
       "create 1 Job | remove j0 | again 10m0.001s"},
      {"old ones go", R"("successfulJobsHistoryLimit":1,"failedJobsHistoryLimit":0)", last, "ccf",
       "12:05:00", "remove j0,j2 | again 5m0.001s"},
  };
  for (const auto& row : rows) {
    const Plan plan =
        planCronJob(*cron(row.spec, row.status), jobs(row.jobs), Duration::zero(), "", at(row.now));
    EXPECT_EQ(textOf(plan), row.plan) << row.what;
  }
}

TEST(CronJob, CountsInTheTimeOfItsZone) {
  const auto noon = object<CronJob>(
      R"({"metadata":{"name":"c","namespace":"d","creationTimestamp":"2026-03-01T00:00:00Z"},"spec":{"schedule":"0 12 * * *","jobTemplate":{"spec":{}}}})");
  const auto ahead = Duration(std::chrono::hours(8));
  EXPECT_EQ(textOf(planCronJob(*noon, {}, ahead, "", at("03:59:00"))), "again 1m0.001s");
  const Plan due = planCronJob(*noon, {}, ahead, "", at("04:00:00"));
  ASSERT_EQ(due.create.size(), 1u);
  EXPECT_EQ(statusIn(due).at("lastScheduleTime").as_string(), "2026-03-01T04:00:00Z");
}

TEST(CronJob, StartsNothingInAZoneThatNobodyKnows) {
  const Plan plan = planCronJob(*cron("", ""), {}, invalid("timezone 'Mars/Base' is unknown"), "",
                                at("12:10:00"));
  EXPECT_EQ(textOf(plan), "note UnknownTimeZone");
}

TEST(CronJob, MakesOneJobOfOneTime) {
  const auto name = [](const char* now) {
    const Plan plan = planCronJob(*cron("", ""), {}, Duration::zero(), "", at(now));
    return plan.create.empty()
               ? "none"
               : std::string(plan.create[0].body.at("metadata").at("name").as_string());
  };
  EXPECT_EQ(name("12:00:01"), name("12:09:59"));
  EXPECT_NE(name("12:00:01"), name("12:10:00"));
}

}  // namespace
}  // namespace mangrove::workloads
