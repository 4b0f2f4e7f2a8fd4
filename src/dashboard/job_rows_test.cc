#include "dashboard/job_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/wire/decode.h"
#include "base/text/time_text.h"

namespace mangrove::dashboard {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

const WallTime kStart = *parseTime("2026-11-18T02:00:00Z");

std::shared_ptr<const api::Pod> executor(const std::string& name, const std::string& phase,
                                         const std::string& more = "") {
  const auto pod = api::decodeText<api::Pod>(
      R"({"metadata":{"name":")" + name + R"(","namespace":"etl","uid":")" + name +
      R"(","creationTimestamp":"2026-11-18T02:00:00Z","labels":{"koordinator.sh/qosClass":"BE",)"
      R"("spark-role":"executor","spark-app-selector":"s1"},"annotations":{)"
      R"("gang.scheduling.koordinator.sh/name":"g","colocation.mangrove.io/checkpoint-last":)"
      R"("2026-11-18T02:00:30Z"}},"spec":{"containers":[{"name":"c","resources":{"requests":)"
      R"({"kubernetes.io/batch-cpu":"3600"}}}]},"status":{"phase":")" +
      phase + R"(","startTime":"2026-11-18T02:00:00Z")" + more + "}}");
  EXPECT_TRUE(pod) << (pod ? "" : pod.error().text());
  return std::make_shared<const api::Pod>(*pod);
}

TEST(JobRows, WhoLivesWaitsAndWasEvicted) {
  report::BatchLedger ledger;
  ClusterView view;
  view.pods = {executor("a", "Running"), executor("b", "Running"), executor("c", "Pending")};
  feedLedger(view, kStart + seconds(100), ledger);
  view.pods[1] =
      executor("b", "Failed", R"(,"conditions":[{"type":"DisruptionTarget","status":"True"}])");
  feedLedger(view, kStart + seconds(110), ledger);
  const std::string text = json::write(jobBoard(view, ledger, kStart + seconds(130)));
  EXPECT_THAT(text, HasSubstr(R"("job":"etl/spark-s1","kind":"spark-executor","gang":"etl/g")"));
  EXPECT_THAT(text, HasSubstr(R"("alive":1,"waiting":1,"done":0,"failed":0,"evicted":1)"));
  EXPECT_THAT(text, HasSubstr(R"("saved":100)")) << text;
}

}  // namespace
}  // namespace mangrove::dashboard
