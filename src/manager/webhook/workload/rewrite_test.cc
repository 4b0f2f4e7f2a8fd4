// Spark, Flink and PyTorch jobs on their way into colocation (spec 08 FE-3, FE-4).
#include "manager/webhook/workload/rewrite.h"

#include <gtest/gtest.h>

#include "manager/webhook/test_support.h"

namespace mangrove::manager {
namespace {

using testing::Asked;
using testing::at;
using testing::clusterWith;

json::Value rewritten(std::string_view resource, std::string_view object,
                      const Surroundings& around = clusterWith()) {
  Asked asked(Operation::kCreate, object);
  asked.request.resource = resource;
  const Review review = mutateWorkload(asked.request, around);
  EXPECT_TRUE(review.allowed) << review.message;
  return asked.after(review);
}

constexpr std::string_view kSpark =
    R"({"metadata":{"name":"pi","labels":{"colocation.mangrove.io/colocate":"true"}},)"
    R"("spec":{"driver":{"cores":1},"executor":{"instances":3,"cores":2}}})";

TEST(Workload, MarksSparkDriverAndExecutors) {
  const json::Value app = rewritten("sparkapplications", kSpark);
  EXPECT_EQ(at(app, "spec|driver|labels"),
            R"({"colocation.mangrove.io/resource-type":"batch","koordinator.sh/qosClass":"BE"})");
  EXPECT_EQ(at(app, "spec|executor|priorityClassName"), "koord-batch");
  EXPECT_EQ(at(app, "spec|executor|annotations|gang.scheduling.koordinator.sh/min-available"), "3");
  EXPECT_EQ(at(app, "spec|executor|annotations|gang.scheduling.koordinator.sh/mode"), "NonStrict");
  EXPECT_EQ(at(app, "spec|driver|annotations"), "(absent)");
}

TEST(Workload, LongJobsKeepTheirDriverOnBetterResources) {
  const json::Value app =
      rewritten("sparkapplications",
                R"({"metadata":{"name":"etl","labels":{"colocation.mangrove.io/colocate":"true"},)"
                R"("annotations":{"colocation.mangrove.io/expected-duration":"2h"}},"spec":{}})");
  EXPECT_EQ(at(app, "spec|driver|labels"),
            R"({"colocation.mangrove.io/resource-type":"mid","koordinator.sh/qosClass":"LS"})");
  EXPECT_EQ(at(app, "spec|driver|priorityClassName"), "koord-mid");
  EXPECT_EQ(at(app, "spec|executor|priorityClassName"), "koord-batch");
}

TEST(Workload, KeepsALowerPriorityClass) {
  const json::Value app = rewritten(
      "sparkapplications",
      R"({"metadata":{"name":"a","labels":{"colocation.mangrove.io/colocate":"true"}},)"
      R"("spec":{"executor":{"priorityClassName":"koord-free"},"driver":{"priorityClassName":"koord-prod"}}})");
  EXPECT_EQ(at(app, "spec|executor|priorityClassName"), "koord-free");
  EXPECT_EQ(at(app, "spec|driver|priorityClassName"), "koord-batch");
}

TEST(Workload, GangsOfPyTorchJobsCountTheElasticMinimum) {  // T-FE-5
  const json::Value job = rewritten(
      "pytorchjobs",
      R"({"metadata":{"name":"ddp","labels":{"colocation.mangrove.io/colocate":"true"}},"spec":{)"
      R"("elasticPolicy":{"minReplicas":4},"pytorchReplicaSpecs":{"Master":{"replicas":1,)"
      R"("template":{"spec":{}}},"Worker":{"replicas":7,"template":{"spec":{}}}}}})");
  const std::string worker =
      at(job, "spec|pytorchReplicaSpecs|Worker|template|metadata|annotations");
  EXPECT_NE(worker.find(R"("gang.scheduling.koordinator.sh/min-available":"5")"), worker.npos)
      << worker;
  EXPECT_NE(worker.find(R"("gang.scheduling.koordinator.sh/total-number":"8")"), worker.npos);
  EXPECT_NE(worker.find(R"("gang.scheduling.koordinator.sh/mode":"Strict")"), worker.npos);
  EXPECT_EQ(at(job, "spec|pytorchReplicaSpecs|Master|template|spec|priorityClassName"),
            "koord-batch");
}

TEST(Workload, FlinkJobManagersGetMid) {
  const json::Value flink = rewritten(
      "flinkdeployments",
      R"({"metadata":{"name":"f","labels":{"colocation.mangrove.io/colocate":"true"}},"spec":{}})");
  EXPECT_EQ(at(flink, "spec|jobManager|podTemplate|spec|priorityClassName"), "koord-mid");
  EXPECT_EQ(at(flink, "spec|taskManager|podTemplate|spec|priorityClassName"), "koord-batch");
}

TEST(Workload, AsksOnlyWhoAskedForIt) {
  EXPECT_EQ(at(rewritten("sparkapplications", R"({"metadata":{"name":"a"},"spec":{}})"), "spec"),
            "{}");
  auto around = clusterWith();
  auto namespaces = std::make_shared<NamespaceLabels>();
  (*namespaces)["default"] = {{kColocate, "true"}};
  around.namespaces = namespaces;
  EXPECT_NE(
      at(rewritten("sparkapplications", R"({"metadata":{"name":"a"},"spec":{}})", around), "spec"),
      "{}");
}

TEST(Workload, GangNamesFitALabel) {
  EXPECT_EQ(gangName("spark", "pi", "executor"), "spark-pi-executor");
  const std::string longName(80, 'n');
  EXPECT_EQ(gangName("spark", longName, "executor").size(), 63U);
  EXPECT_NE(gangName("spark", longName + "a", "x"), gangName("spark", longName + "b", "x"));
}

}  // namespace
}  // namespace mangrove::manager
