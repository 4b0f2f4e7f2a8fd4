// Spark, Flink and PyTorch jobs on their way into colocation.
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
  EXPECT_EQ(at(app, "spec|driver|annotations|gang.scheduling.koordinator.sh/name"), "(absent)");
}

TEST(Workload, ExecutorsMoveTheirBlocksUnlessTheAuthorSaysOtherwise) {
  const json::Value app = rewritten(
      "sparkapplications",
      R"({"metadata":{"name":"a","labels":{"colocation.mangrove.io/colocate":"true"}},"spec":{)"
      R"("sparkConf":{"spark.storage.decommission.shuffleBlocks.enabled":"false"}}})");
  EXPECT_EQ(at(app, "spec|sparkConf|spark.decommission.enabled"), "true");
  EXPECT_EQ(at(app, "spec|sparkConf|spark.storage.decommission.shuffleBlocks.enabled"), "false");
}

TEST(Workload, DriversOfSparkWaitForRoom) {
  const char* const affinity =
      "spec|driver|annotations|scheduling.koordinator.sh/reservation-affinity";
  EXPECT_EQ(at(rewritten("sparkapplications", kSpark), affinity),
            R"({"reservationSelector":{"colocation.mangrove.io/spark-application":"pi",)"
            R"("colocation.mangrove.io/spark-namespace":"default","spark-role":"driver"}})");
  Surroundings off = clusterWith();
  off.gates.sparkReservations = false;
  EXPECT_EQ(at(rewritten("sparkapplications", kSpark, off), affinity), "(absent)");
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
  EXPECT_EQ(at(job, "spec|runPolicy|schedulingPolicy"),
            R"({"minAvailable":5,"priorityClass":"koord-batch","scheduleTimeoutSeconds":600})");
}

TEST(Workload, WhatTheAuthorSaysOfSchedulingStays) {
  const json::Value job = rewritten(
      "pytorchjobs",
      R"({"metadata":{"name":"ddp","labels":{"colocation.mangrove.io/colocate":"true"}},"spec":{)"
      R"("runPolicy":{"cleanPodPolicy":"None","schedulingPolicy":{"minAvailable":2,"queue":"q"}},)"
      R"("pytorchReplicaSpecs":{"Worker":{"replicas":3,"template":{"spec":{}}}}}})");
  EXPECT_EQ(at(job, "spec|runPolicy|schedulingPolicy|minAvailable"), "2");
  EXPECT_EQ(at(job, "spec|runPolicy|schedulingPolicy|queue"), "q");
  EXPECT_EQ(at(job, "spec|runPolicy|cleanPodPolicy"), "None");
}

TEST(Workload, FlinkJobManagersGetMid) {
  const json::Value flink = rewritten(
      "flinkdeployments",
      R"({"metadata":{"name":"f","labels":{"colocation.mangrove.io/colocate":"true"}},"spec":{}})");
  EXPECT_EQ(at(flink, "spec|jobManager|podTemplate|spec|priorityClassName"), "koord-mid");
  EXPECT_EQ(at(flink, "spec|taskManager|podTemplate|spec|priorityClassName"), "koord-batch");
  EXPECT_EQ(at(flink, "spec|podTemplate|metadata|labels|koordinator.sh/qosClass"), "BE");
  EXPECT_EQ(at(flink, "spec|jobManager|podTemplate|metadata|labels|koordinator.sh/qosClass"), "LS");
}

// How long a job takes decides for Spark's drivers alone (FE-3).
TEST(Workload, BandsOfCriticalPartsByKindAndDuration) {
  const struct {
    const char *resource, *annotation, *path, *want;
  } cases[] = {
      {"sparkapplications", R"("colocation.mangrove.io/expected-duration":"31m")",
       "spec|driver|priorityClassName", "koord-mid"},
      {"sparkapplications", R"("colocation.mangrove.io/expected-duration":"30m")",
       "spec|driver|priorityClassName", "koord-batch"},
      {"flinkdeployments", R"("colocation.mangrove.io/expected-duration":"5m")",
       "spec|jobManager|podTemplate|spec|priorityClassName", "koord-mid"},
      {"pytorchjobs", R"("colocation.mangrove.io/expected-duration":"9h")",
       "spec|pytorchReplicaSpecs|Master|template|spec|priorityClassName", "koord-batch"},
      {"pytorchjobs", R"("colocation.mangrove.io/critical-component-class":"mid")",
       "spec|pytorchReplicaSpecs|Master|template|spec|priorityClassName", "koord-mid"},
      {"flinkdeployments", R"("colocation.mangrove.io/critical-component-class":"prod")",
       "spec|podTemplate", "(absent)"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(
        at(rewritten(
               c.resource,
               std::string(
                   R"({"metadata":{"name":"a","labels":{"colocation.mangrove.io/colocate":"true"},"annotations":{)") +
                   c.annotation +
                   R"(}},"spec":{"pytorchReplicaSpecs":{"Master":{"template":{"spec":{}}}}}})"),
           c.path),
        c.want)
        << c.resource << " " << c.annotation;
}

TEST(Workload, FlinkRolesAreGangs) {  // T-FE-4: parallelism 10, slots 4 → 3 task managers
  const struct {
    const char *spec, *min, *total;
  } cases[] = {
      {R"("job":{"parallelism":10},"flinkConfiguration":{"taskmanager.numberOfTaskSlots":"4"})",
       "3", "3"},
      {R"("taskManager":{"replicas":5},"job":{"parallelism":10})", "5", "5"},
      {R"("taskManager":{"replicas":5},"flinkConfiguration":{"scheduler-mode":"reactive"})", "1",
       "5"},
      {"", "1", "1"},
  };
  for (const auto& c : cases) {
    const json::Value flink = rewritten(
        "flinkdeployments",
        std::string(
            R"({"metadata":{"name":"f","labels":{"colocation.mangrove.io/colocate":"true"}},"spec":{)") +
            c.spec + "}}");
    const std::string workers = "spec|taskManager|podTemplate|metadata|annotations|";
    EXPECT_EQ(at(flink, workers + "gang.scheduling.koordinator.sh/min-available"), c.min) << c.spec;
    EXPECT_EQ(at(flink, workers + "gang.scheduling.koordinator.sh/total-number"), c.total)
        << c.spec;
    EXPECT_EQ(at(flink, workers + "gang.scheduling.koordinator.sh/name"), "flink-f-taskmanager");
    EXPECT_EQ(at(flink, workers + "gang.scheduling.koordinator.sh/mode"), "Strict");
    EXPECT_EQ(at(flink,
                 "spec|jobManager|podTemplate|metadata|annotations|"
                 "gang.scheduling.koordinator.sh/name"),
              "flink-f-jobmanager");
  }
}

// MPIJob, RayJob, TrainJob, Job and Volcano's Job by their pod templates.
TEST(Workload, JobsByTheirTemplates) {
  const std::string gang = "gang.scheduling.koordinator.sh/";
  const struct {
    const char *resource, *spec;
    std::string path;
    const char* want;
  } cases[] = {
      {"mpijobs",
       R"({"mpiReplicaSpecs":{"Launcher":{"template":{}},"Worker":{"replicas":4,"template":{}}}})",
       "spec|mpiReplicaSpecs|Worker|template|metadata|annotations|" + gang + "min-available", "4"},
      {"mpijobs",
       R"({"mpiReplicaSpecs":{"Launcher":{"template":{}},"Worker":{"replicas":4,"template":{}}}})",
       "spec|mpiReplicaSpecs|Launcher|template|metadata|annotations", "(absent)"},
      {"mpijobs", R"({"mpiReplicaSpecs":{"Launcher":{"template":{}}}})",
       "spec|mpiReplicaSpecs|Launcher|template|spec|priorityClassName", "koord-batch"},
      {"rayjobs",
       R"({"rayClusterSpec":{"headGroupSpec":{},"workerGroupSpecs":[{"groupName":"a","replicas":3,)"
       R"("minReplicas":2},{"groupName":"b","replicas":1}]}})",
       "spec|rayClusterSpec|headGroupSpec|template|metadata|annotations|" + gang + "min-available",
       "4"},
      {"trainjobs", R"({"trainer":{"numNodes":5},"podTemplateOverrides":[{"mine":1}]})",
       "spec|podTemplateOverrides|0|metadata|annotations|" + gang + "min-available", "5"},
      {"trainjobs", R"({"trainer":{"numNodes":5},"podTemplateOverrides":[{"mine":1}]})",
       "spec|podTemplateOverrides|1|mine", "1"},
      {"jobs", R"({"parallelism":3,"template":{"spec":{}}})",
       "spec|template|metadata|labels|koordinator.sh/qosClass", "BE"},
      {"jobs", R"({"parallelism":3,"template":{"spec":{}}})", "spec|template|metadata|annotations",
       "(absent)"},
      {"jobs", R"({"tasks":[{"name":"t","template":{}}]})",
       "spec|tasks|0|template|spec|priorityClassName", "koord-batch"},
  };
  for (const auto& c : cases) {
    const json::Value job = rewritten(
        c.resource,
        std::string(
            R"({"metadata":{"name":"j","labels":{"colocation.mangrove.io/colocate":"true"}},"spec":)") +
            c.spec + "}");
    EXPECT_EQ(at(job, c.path), c.want) << c.resource << " " << c.path;
  }
}

TEST(Workload, ASizeThatMakesNoSenseIsRefused) {
  Asked asked(Operation::kCreate,
              R"({"metadata":{"name":"a","labels":{"colocation.mangrove.io/colocate":"true"}},)"
              R"("spec":{"executor":{"memory":"lots"}}})");
  asked.request.resource = "sparkapplications";
  const Review review = mutateWorkload(asked.request, clusterWith());
  EXPECT_FALSE(review.allowed);
  EXPECT_NE(review.message.find("spec.executor: memory: 'lots' is no memory size"),
            std::string::npos)
      << review.message;
}

TEST(Workload, VolcanoMakesItsOwnGangs) {
  auto around = clusterWith();
  around.defaultScheduler = "volcano";
  const json::Value app = rewritten("sparkapplications", kSpark, around);
  EXPECT_EQ(at(app, "spec|batchScheduler"), "volcano");
  EXPECT_EQ(at(app, "spec|batchSchedulerOptions|priorityClassName"), "koord-batch");
  EXPECT_EQ(at(app, "spec|executor|annotations"), "(absent)");
  EXPECT_EQ(at(rewritten("sparkapplications", kSpark), "spec|batchScheduler"), "(absent)");
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
  // The same in every build: a manager of another version must not split a gang.
  EXPECT_EQ(gangName("spark", longName, "x").substr(54), "-c3486c40");
  EXPECT_NE(gangName("spark", longName + "a", "x"), gangName("spark", longName + "b", "x"));
}

}  // namespace
}  // namespace mangrove::manager
