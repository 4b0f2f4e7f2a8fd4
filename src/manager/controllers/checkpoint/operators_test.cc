#include "manager/controllers/checkpoint/operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/time_text.h"

namespace mangrove::manager {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

const WallTime kNow = *parseTime("2026-11-18T03:00:00Z");

std::shared_ptr<const AskedPod> asked(const std::string& labels, WallTime at = kNow,
                                      const std::string& mode = "operator") {
  const std::string text =
      R"({"metadata":{"name":"p","namespace":"ns","uid":"u","labels":{)" + labels +
      R"(},"annotations":{"colocation.mangrove.io/checkpoint":"{\"mode\":\")" + mode +
      R"(\"}","colocation.mangrove.io/checkpoint-request":"{\"at\":\")" + formatTime(at) +
      R"(\",\"notBefore\":\")" + formatTime(at) + R"(\",\"deadline\":\")" +
      formatTime(at + seconds(120)) + R"(\",\"by\":\"mangrove-agent\"}"}}})";
  const auto pod = api::decodeText<MaybeAsked>(text);
  EXPECT_TRUE(pod) << (pod ? "" : pod.error().text());
  return pod ? pod->asked : nullptr;
}
const char* kTaskManager =
    R"("component":"taskmanager","type":"flink-native-kubernetes","app":"wc")";
std::shared_ptr<const AskedPod> worker(int index) {
  return asked(R"("training.kubeflow.org/job-name":"ddp","training.kubeflow.org/replica-type":)"
               R"("Worker","training.kubeflow.org/replica-index":")" +
               std::to_string(index) + '"');
}

FlinkJob flink(const std::string& job, const std::string& status,
               const std::string& annotations = "") {
  const auto out = api::decodeText<FlinkJob>(
      R"({"metadata":{"name":"wc","namespace":"ns","annotations":{)" + annotations +
      R"(}},"spec":{)" + job + R"(},"status":{)" + status + "}}");
  EXPECT_TRUE(out) << (out ? "" : out.error().text());
  return *out;
}
std::string heldSince(WallTime at, const std::string& more) {
  return R"("colocation.mangrove.io/held-back":"{\"at\":\")" + formatTime(at) + R"(\",)" + more +
         R"(}")";
}
PyTorchJob torch(int workers, const std::string& elastic, const std::string& annotations = "") {
  const auto out = api::decodeText<PyTorchJob>(
      R"({"metadata":{"name":"ddp","namespace":"ns","annotations":{)" + annotations +
      R"(}},"spec":{"pytorchReplicaSpecs":{"Worker":{"replicas":)" + std::to_string(workers) +
      "}}" + elastic + "}}");
  EXPECT_TRUE(out) << (out ? "" : out.error().text());
  return *out;
}

TEST(Operators, WhoIsAskedThroughWhom) {
  EXPECT_EQ(asked(kTaskManager)->job, "flink|ns/wc");
  EXPECT_EQ(worker(3)->job, "pytorch|ns/ddp");
  EXPECT_EQ(worker(3)->index, 3);
  EXPECT_EQ(asked(R"("app":"x")")->job, "");
  EXPECT_EQ(asked(kTaskManager, kNow, "signal"), nullptr) << "the agent's";
}

TEST(Operators, AFlinkJobIsSuspendedWithASavepointOnce) {
  const FlinkJob job = flink(R"("job":{"state":"running","upgradeMode":"last-state"})",
                             R"("jobStatus":{"state":"RUNNING"},"lifecycleState":"STABLE")");
  const OperatorStep step = flinkStep(job, {asked(kTaskManager)}, kNow);
  ASSERT_TRUE(step.patch);
  EXPECT_EQ(json::write(*step.patch),
            R"({"metadata":{"annotations":{"colocation.mangrove.io/held-back":)"
            R"("{\"at\":\"2026-11-18T03:00:00Z\",\"upgradeMode\":\"last-state\"}"}},)"
            R"("spec":{"job":{"state":"suspended","upgradeMode":"savepoint"}}})");
  EXPECT_THAT(step.told, HasSubstr("mangrove-agent wants p gone"));
  EXPECT_FALSE(flinkStep(job, {}, kNow).patch) << "nobody asked";
  EXPECT_FALSE(flinkStep(job, {asked(kTaskManager, kNow + seconds(30))}, kNow).patch)
      << "not before its time";
  const FlinkJob sick = flink(R"("job":{"state":"running"})", R"("jobStatus":{"state":"FAILING"})");
  EXPECT_THAT(json::write(*flinkStep(sick, {asked(kTaskManager)}, kNow).patch),
              HasSubstr("last-state"));
  EXPECT_THAT(flinkStep(flink("", ""), {asked(kTaskManager)}, kNow).trouble,
              HasSubstr("session cluster"));
}

TEST(Operators, ASavepointAfterTheRequestIsSaved) {
  const std::string held = heldSince(kNow, R"(\"upgradeMode\":\"last-state\")");
  const std::string job = R"("job":{"state":"suspended","upgradeMode":"savepoint"})";
  const auto pod = asked(kTaskManager);
  const auto saves = [&](const std::string& status) {
    return flinkStep(flink(job, status, held), {pod}, kNow + seconds(10)).saved.size();
  };
  EXPECT_EQ(saves(R"("jobStatus":{"state":"RUNNING"})"), 0u);
  EXPECT_EQ(saves(R"("jobStatus":{"state":"RUNNING","savepointInfo":{"lastSavepoint":)"
                  R"({"timeStamp":1700000000000}}})"),
            0u)
      << "an old one";
  EXPECT_EQ(saves(R"("lifecycleState":"SUSPENDED")"), 1u);
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>((kNow + seconds(5)).time_since_epoch())
          .count();
  EXPECT_EQ(
      saves(R"("jobStatus":{"state":"RUNNING","savepointInfo":{"lastSavepoint":{"timeStamp":)" +
            std::to_string(ms) + "}}}"),
      1u);
}

TEST(Operators, AFlinkJobGoesOnWhenItsPodsAreGoneAndGetsItsWayBack) {
  const std::string held = heldSince(kNow, R"(\"upgradeMode\":\"stateless\")");
  const std::string job = R"("job":{"state":"suspended","upgradeMode":"savepoint"})";
  const FlinkJob stopped = flink(job, R"("lifecycleState":"SUSPENDED")", held);
  EXPECT_FALSE(flinkStep(stopped, {}, kNow + seconds(30)).patch) << "not at once";
  EXPECT_TRUE(flinkStep(stopped, {}, kNow + seconds(30)).again);
  const auto on = flinkStep(stopped, {}, kNow + seconds(61));
  EXPECT_EQ(json::write(*on.patch), R"({"spec":{"job":{"state":"running"}}})");
  const FlinkJob saving = flink(job, R"("jobStatus":{"state":"RUNNING"})", held);
  EXPECT_FALSE(flinkStep(saving, {}, kNow + minutes(5)).patch) << "its operator still saves";
  const FlinkJob runs = flink(R"("job":{"state":"running","upgradeMode":"savepoint"})",
                              R"("jobStatus":{"state":"RUNNING"})", held);
  EXPECT_EQ(json::write(*flinkStep(runs, {}, kNow + minutes(3)).patch),
            R"({"metadata":{"annotations":{"colocation.mangrove.io/held-back":null}},)"
            R"("spec":{"job":{"upgradeMode":"stateless"}}})");
  EXPECT_FALSE(flinkStep(flink(job, ""), {asked(kTaskManager)}, kNow).patch)
      << "suspended by its owner";
}

TEST(Operators, AnElasticJobShrinksToWhatItNeedsAndGrowsAgain) {
  const std::string elastic = R"(,"elasticPolicy":{"minReplicas":4})";
  const auto step = pyTorchStep(torch(7, elastic), {worker(5), worker(6)}, kNow);
  ASSERT_TRUE(step.patch);
  EXPECT_THAT(json::write(*step.patch), HasSubstr(R"("Worker":{"replicas":5})"));
  EXPECT_THAT(json::write(*step.patch), HasSubstr(R"(\"replicas\":7)"));
  EXPECT_THAT(pyTorchStep(torch(7, elastic), {worker(2)}, kNow).trouble, HasSubstr("4 workers"));
  EXPECT_THAT(pyTorchStep(torch(7, ""), {worker(6)}, kNow).trouble, HasSubstr("minReplicas"));
  const PyTorchJob small = torch(5, elastic, heldSince(kNow, R"(\"replicas\":7)"));
  EXPECT_EQ(pyTorchStep(small, {}, kNow + minutes(4)).again, Duration(minutes(6)));
  const auto grown = pyTorchStep(small, {}, kNow + minutes(10));
  EXPECT_THAT(json::write(*grown.patch), HasSubstr(R"("Worker":{"replicas":7})"));
  EXPECT_THAT(json::write(*grown.patch), HasSubstr(R"("colocation.mangrove.io/held-back":null)"));
  EXPECT_FALSE(pyTorchStep(torch(7, elastic), {}, kNow).patch);
}

}  // namespace
}  // namespace mangrove::manager
