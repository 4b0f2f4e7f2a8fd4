// What a Job does next, as tables: how many pods it starts, when it tries again, when it gives up.
#include "workloads/job.h"

#include <gtest/gtest.h>

#include "base/text/strings.h"
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
      {"those that go are replaced at once", R"("completions":5,"parallelism":2)", "", "rt",
       "12:00:05", "create 1 Pod"},
      {"or hold their place until they ended",
       R"("completions":5,"parallelism":2,"podReplacementPolicy":"Failed")", "", "rt", "12:00:05",
       ""},
      {"another controller's are left alone", R"("completions":5,"managedBy":"example.com/q")", "",
       "", "12:00:05", ""},
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

// Pods of indexes, one word each: index, letter (r runs, s succeeded, f failed at 12:00), failures
// before it.
Pods indexPods(const std::string& words) {
  Pods out;
  for (std::string_view word : splitTrimmed(words, ' ')) {
    if (word.empty()) continue;
    const char what = word[1];
    const char* phase = what == 's' ? "Succeeded" : what == 'f' ? "Failed" : "Running";
    out.push_back(object<api::Pod>(fmt::format(
        R"({{"metadata":{{"name":"p{0}","namespace":"d","uid":"p{0}","finalizers":["batch.kubernetes.io/job-tracking"],"annotations":{{"batch.kubernetes.io/job-completion-index":"{1}","batch.kubernetes.io/job-index-failure-count":"{2}"}}}},"status":{{"phase":"{3}","containerStatuses":[{{"name":"c","state":{{"terminated":{{"exitCode":{4},"finishedAt":"2026-03-01T12:00:00Z"}}}}}}]}}}})",
        out.size(), word[0], word.substr(2), phase, what == 'f' ? 42 : 0)));
  }
  return out;
}

struct IndexRow {
  const char* what;
  std::string spec, status, pods;
  const char *now, *plan, *failedIndexes, *condition;
};

TEST(Job, CountsFailuresByIndex) {
  const std::string spec =
      R"("completionMode":"Indexed","completions":3,"parallelism":3,"backoffLimit":2147483647,"backoffLimitPerIndex":1)";
  const std::string policy =
      spec +
      R"(,"podFailurePolicy":{"rules":[{"action":"FailIndex","onExitCodes":{"operator":"In","values":[42]}}]})";
  const std::vector<IndexRow> rows = {
      {"a failed one waits for its time", spec, "", "0r0 1r0 2f0", "12:00:04", "again 6s", "", ""},
      {"then it is tried again", spec, "", "0r0 1r0 2f0", "12:00:10", "create 1 Pod", "", ""},
      {"and given up after that", spec, "", "0r0 1r0 2f0 2f1", "12:01:00", "", "2", ""},
      {"the others go on", spec, "", "0r0 2f1", "12:01:00", "create 1 Pod", "2", ""},
      {"all are done, some failed", spec, R"("completedIndexes":"0,1")", "2f1", "12:01:00", "", "2",
       "FailureTarget"},
      {"a rule gives an index up at once", policy, "", "0r0 1r0 2f0", "12:01:00", "", "2", ""},
      {"too many of them", spec + R"(,"maxFailedIndexes":1)", "", "0r0 1f1 2f1", "12:01:00",
       "remove p0", "1,2", "FailureTarget"},
  };
  for (const auto& row : rows) {
    const Plan plan = planJob(*job(row.spec, row.status), indexPods(row.pods), "", at(row.now));
    EXPECT_EQ(textOf(plan), row.plan) << row.what;
    EXPECT_EQ(statusIn(plan).at("failedIndexes").as_string(), row.failedIndexes) << row.what;
    EXPECT_EQ(lastCondition(plan), row.condition) << row.what;
  }
}

TEST(Job, TellsTheNextPodHowOftenItsIndexFailed) {
  const Plan plan = planJob(
      *job(
          R"("completionMode":"Indexed","completions":1,"backoffLimit":9,"backoffLimitPerIndex":3)"),
      indexPods("0f1"), "", at("12:01:00"));
  ASSERT_EQ(plan.create.size(), 1U);
  const auto& annotations = plan.create[0].body.at("metadata").at("annotations").as_object();
  EXPECT_EQ(annotations.at("batch.kubernetes.io/job-index-failure-count").as_string(), "2");
}

TEST(Job, EndsBySuccessPolicy) {
  const std::string spec = R"("completionMode":"Indexed","completions":4,"parallelism":4,)";
  const auto rule = [&](const std::string& text) {
    return spec + R"("successPolicy":{"rules":[)" + text + "]}";
  };
  const std::vector<IndexRow> rows = {
      {"these indexes", rule(R"({"succeededIndexes":"0-1"})"), "", "0s0 1s0 2r0 3r0", "12:00:05",
       "remove p2,p3", "", "SuccessCriteriaMet"},
      {"not yet", rule(R"({"succeededIndexes":"0-1"})"), "", "0s0 1r0 2s0 3r0", "12:00:05", "", "",
       ""},
      {"so many of them", rule(R"({"succeededIndexes":"0-2","succeededCount":1})"), "",
       "0r0 1s0 2r0 3r0", "12:00:05", "remove p0,p2,p3", "", "SuccessCriteriaMet"},
      {"so many of all", rule(R"({"succeededCount":2})"), "", "0r0 1r0 2s0 3s0", "12:00:05",
       "remove p0,p1", "", "SuccessCriteriaMet"},
  };
  for (const auto& row : rows) {
    const Plan plan = planJob(*job(row.spec, row.status), indexPods(row.pods), "", at(row.now));
    EXPECT_EQ(textOf(plan), row.plan) << row.what;
    EXPECT_EQ(lastCondition(plan), row.condition) << row.what;
  }
}

}  // namespace
}  // namespace mangrove::workloads
