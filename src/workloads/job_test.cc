// What a Job does next, as tables: how many pods it starts, when it tries again, when it gives up.
#include "workloads/job.h"

#include <gtest/gtest.h>

#include "workloads/job_count.h"
#include "workloads/testing/plan_text.h"

namespace mangrove::workloads {
namespace {

WallTime at(const char* time) {
  return *parseTime(fmt::format("2026-03-01T{}Z", time));
}

std::shared_ptr<const Job> job(const std::string& spec, const std::string& status = "") {
  return object<Job>(fmt::format(
      R"({{"metadata":{{"name":"j","namespace":"d","uid":"u"}},"spec":{{"template":{{"spec":{{"containers":[{{"name":"c"}}]}}}},{}}},"status":{{"startTime":"2026-03-01T12:00:00Z"{}{}}}}})",
      spec, status.empty() ? "" : ",", status));
}

// One letter a pod: r runs, s has succeeded, f has failed (at 12:00), t is being deleted.
Pods pods(const std::string& letters) {
  Pods out;
  for (size_t i = 0; i < letters.size(); ++i) {
    const char what = letters[i];
    const char* phase = what == 's' ? "Succeeded" : what == 'f' ? "Failed" : "Running";
    const char* going = what == 't' ? R"("deletionTimestamp":"2026-03-01T12:00:00Z",)" : "";
    const char* end =
        what == 's' || what == 'f'
            ? R"(,"containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":1,"finishedAt":"2026-03-01T12:00:00Z"}}}])"
            : "";
    out.push_back(object<api::Pod>(fmt::format(
        R"({{"metadata":{{{}"name":"p{}","namespace":"d","uid":"p{}","finalizers":["batch.kubernetes.io/job-tracking"]}},"status":{{"phase":"{}"{}}}}})",
        going, i, i, phase, end)));
  }
  return out;
}

struct Row {
  const char* what;
  std::string spec, status, pods;
  const char* now;
  const char* plan;
};

void check(const std::vector<Row>& rows) {
  for (const auto& row : rows) {
    const Plan plan = planJob(*job(row.spec, row.status), pods(row.pods), "", at(row.now));
    EXPECT_EQ(textOf(plan), row.plan) << row.what;
  }
}

TEST(Job, StartsAsManyAsItMay) {
  check({
      {"one by default", R"("completions":1)", "", "", "12:00:05", "create 1 Pod"},
      {"parallel ones", R"("completions":5,"parallelism":3)", "", "", "12:00:05", "create 3 Pod"},
      {"those that run count", R"("completions":5,"parallelism":3)", "", "rr", "12:00:05",
       "create 1 Pod"},
      {"those that go still hold their place", R"("completions":5,"parallelism":2)", "", "rt",
       "12:00:05", ""},
      {"no more than are left", R"("completions":5,"parallelism":3)", R"("succeeded":4)", "",
       "12:00:05", "create 1 Pod"},
      {"too many of them", R"("completions":5,"parallelism":1)", "", "rrr", "12:00:05",
       "remove p0,p1"},
      {"a work queue starts them all", R"("parallelism":3)", "", "", "12:00:05", "create 3 Pod"},
      {"and none once one is done", R"("parallelism":3)", R"("succeeded":1)", "r", "12:00:05", ""},
      {"suspended", R"("completions":2,"parallelism":2,"suspend":true)", "", "r", "12:00:05",
       "remove p0 | note Suspended"},
  });
}

TEST(Job, WaitsLongerAfterEachFailure) {
  check({
      {"ten seconds after the first", R"("completions":1)", "", "f", "12:00:05", "again 5s"},
      {"then it tries again", R"("completions":1)", "", "f", "12:00:10", "create 1 Pod"},
      {"twenty after the second", R"("completions":1)", "", "ff", "12:00:15", "again 5s"},
      {"forty after the third", R"("completions":1)", "", "fff", "12:00:30", "again 10s"},
  });
}

TEST(Job, GivesUp) {
  check({
      {"at its limit: it may fail so often", R"("completions":1,"backoffLimit":1)", "", "f",
       "12:00:10", "create 1 Pod"},
      {"beyond it the others go", R"("completions":2,"parallelism":2,"backoffLimit":1)", "", "ffr",
       "12:01:00", "remove p2"},
      {"when its time is up", R"("completions":1,"activeDeadlineSeconds":60)", "", "r", "12:01:00",
       "remove p0"},
      {"not before, and looks then", R"("completions":1,"activeDeadlineSeconds":60)", "", "r",
       "12:00:45", "again 15s"},
  });
}

TEST(Job, EndsWhenAllIsCounted) {
  const std::string spec = R"("completions":2,"parallelism":2)";
  const Plan early = planJob(*job(spec, R"("succeeded":1)"), pods("s"), "", at("12:00:05"));
  EXPECT_EQ(lastCondition(early), "SuccessCriteriaMet") << "a pod is not counted yet";
  const Plan done = planJob(*job(spec, R"("succeeded":2)"), {}, "", at("12:00:05"));
  EXPECT_EQ(lastCondition(done), "Complete");
  EXPECT_EQ(textOf(done), "note Completed");
}

TEST(Job, GoesWhenNobodyNeedsItAnyMore) {
  const std::string spec = R"("completions":1,"ttlSecondsAfterFinished":60)";
  const std::string ended =
      R"("conditions":[{"type":"Complete","status":"True","lastTransitionTime":"2026-03-01T12:00:00Z"}])";
  EXPECT_EQ(textOf(planJob(*job(spec, ended), {}, "", at("12:00:20"))), "again 40s");
  EXPECT_EQ(textOf(planJob(*job(spec, ended), {}, "", at("12:01:00"))), "remove j");
}

}  // namespace
}  // namespace mangrove::workloads
