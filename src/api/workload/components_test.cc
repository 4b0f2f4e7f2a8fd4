#include "api/workload/components.h"

#include <gtest/gtest.h>

#include "api/wire/names.h"
#include "api/workload/memory_text.h"

namespace mangrove::api {
namespace {

std::vector<Component> parts(std::string_view resource, const std::string& spec) {
  const std::string text = R"({"metadata":{"name":"a"},"spec":)" + spec + "}";
  TextDoc doc;
  const auto view = doc.parse(text);
  EXPECT_TRUE(view);
  const auto found = componentsOf(resource, *view);
  EXPECT_TRUE(found) << (found ? "" : found.error().text());
  return found && *found ? **found : std::vector<Component>{};
}
std::string trouble(std::string_view resource, const std::string& spec) {
  const std::string text = R"({"spec":)" + spec + "}";
  TextDoc doc;
  const auto found = componentsOf(resource, *doc.parse(text));
  return found ? "" : found.error().text();
}
int64_t mibOf(const Component& one) {
  return one.requests.memory().v / kMiB.v;
}

TEST(Components, ASmallScalaJob) {  // T-FE-1
  const auto all =
      parts("sparkapplications", R"({"type":"Scala","driver":{"cores":1,"memory":"512m"},)"
                                 R"("executor":{"cores":1,"instances":1,"memory":"512m"}})");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(mibOf(all[0]), 896);
  EXPECT_EQ(mibOf(all[1]), 896);
  EXPECT_TRUE(all[0].critical);
  const ResourceList sold = inBand(atLeast(all), PriorityBand::kBatch);
  EXPECT_EQ(sold.amount(resource::kBatchCpu).value(), 2000);
  EXPECT_EQ(sold.amount(resource::kBatchMemory).value(), 2 * int64_t{939524096});
  EXPECT_FALSE(sold.has(resource::kCpu));
}

TEST(Components, OverheadByLanguage) {  // T-FE-2 and T-FE-3
  const struct {
    const char* spec;
    int64_t mib;
  } cases[] = {
      {R"({"type":"Python","executor":{"memory":"4g"}})", 5734},
      {R"({"type":"Scala","executor":{"memory":"4g"}})", 4505},
      {R"({"type":"Scala","executor":{"memory":"8g"}})", 9011},
      {R"({"type":"R","executor":{"memory":"4G"}})", 5734},
      {R"({"type":"Scala","executor":{}})", 1408},
      {R"({"type":"Scala","memoryOverheadFactor":"0.5","executor":{"memory":"4g"}})", 6144},
      {R"({"type":"Python","executor":{"memory":"4g","memoryOverhead":"1g"},"sparkConf":{)"
       R"("spark.executor.pyspark.memory":"2g","spark.memory.offHeap.enabled":"true",)"
       R"("spark.memory.offHeap.size":"512m"}})",
       7680},
      // A bare number is MiB for Python's memory and bytes outside of the heap.
      {R"({"type":"Python","executor":{"memory":"4g","memoryOverhead":"1024"},"sparkConf":{)"
       R"("spark.executor.pyspark.memory":"2048","spark.memory.offHeap.enabled":"true",)"
       R"("spark.memory.offHeap.size":"536870912"}})",
       7680},
      // Not of Python, not switched on: neither counts.
      {R"({"type":"Scala","executor":{"memory":"4g"},"sparkConf":{)"
       R"("spark.executor.pyspark.memory":"2g","spark.memory.offHeap.size":"512m"}})",
       4505},
  };
  for (const auto& c : cases)
    EXPECT_EQ(mibOf(parts("sparkapplications", c.spec).at(1)), c.mib) << c.spec;
}

TEST(Components, SparkCoresLimitsGpusAndCounts) {
  const auto all = parts(
      "sparkapplications",
      R"({"dynamicAllocation":{"enabled":true,"initialExecutors":4,"minExecutors":2,"maxExecutors":9},)"
      R"("nodeSelector":{"disk":"ssd"},"executor":{"instances":7,"cores":4,"coreRequest":"1500m",)"
      R"("coreLimit":"2","memoryLimit":"3g","gpu":{"name":"nvidia.com/gpu","quantity":2},)"
      R"("schedulerName":"koord-scheduler"}})");
  const Component& executor = all.at(1);
  EXPECT_EQ(executor.requests.cpu().v, 1500);
  EXPECT_EQ(executor.limits.cpu().v, 2000);
  EXPECT_EQ(executor.limits.memory().v, 3 * 1024 * kMiB.v);
  EXPECT_EQ(executor.requests.amount(resource::kNvidiaGpu).value(), 2);
  EXPECT_EQ(executor.minReplicas, 2);
  EXPECT_EQ(executor.replicas, 4);
  EXPECT_EQ(executor.maxReplicas, 9);
  EXPECT_EQ(executor.claim.nodeSelector.at("disk"), "ssd");
  EXPECT_EQ(executor.claim.schedulerName, "koord-scheduler");
}

TEST(Components, FlinkCountsAndSizes) {  // T-FE-4
  const auto all = parts(
      "flinkdeployments",
      R"({"job":{"parallelism":10},"flinkConfiguration":{"taskmanager.numberOfTaskSlots":"4",)"
      R"("jobmanager.memory.process.size":"1 gb"},)"
      R"("podTemplate":{"spec":{"nodeSelector":{"a":"1","b":"1"}}},)"
      R"("taskManager":{"resource":{"cpu":0.5,"memory":"2048m"},)"
      R"("podTemplate":{"spec":{"nodeSelector":{"b":"2"}}}}})");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].requests.memory().v, int64_t{1} << 30);
  EXPECT_EQ(all[1].replicas, 3);
  EXPECT_EQ(all[1].minReplicas, 3);
  EXPECT_EQ(all[1].requests.memory().v, 2147483648);
  EXPECT_EQ(all[1].requests.cpu().v, 500);
  EXPECT_EQ(all[1].claim.nodeSelector,
            (std::map<std::string, std::string>{{"a", "1"}, {"b", "2"}}));
  const auto reactive =
      parts("flinkdeployments", R"({"flinkConfiguration":{"scheduler-mode":"reactive"},)"
                                R"("taskManager":{"replicas":5}})");
  EXPECT_EQ(reactive.at(1).minReplicas, 1);
  EXPECT_EQ(reactive.at(1).replicas, 5);
}

constexpr const char* kPod =
    R"({"spec":{"nodeSelector":{"x":"y"},"containers":[{"name":"c","resources":{"requests":)"
    R"({"cpu":"2","memory":"1Gi"}}}]}})";

TEST(Components, TemplatesOfEveryKind) {
  const std::string pod = kPod;
  struct Want {
    const char* name;
    int64_t min, replicas, max;
    bool critical;
  };
  const struct {
    const char* resource;
    std::string spec;
    std::vector<Want> want;
  } cases[] = {
      {"pytorchjobs",
       R"({"elasticPolicy":{"minReplicas":4,"maxReplicas":9},"pytorchReplicaSpecs":{"Master":)"
       R"({"replicas":1,"template":)" +
           pod + R"(},"Worker":{"replicas":7,"template":)" + pod + "}}}",
       {{"Master", 1, 1, 1, true}, {"Worker", 4, 7, 9, false}}},
      {"mpijobs",
       R"({"mpiReplicaSpecs":{"Launcher":{"template":)" + pod +
           R"(},"Worker":{"replicas":2,"template":)" + pod + "}}}",
       {{"Launcher", 1, 1, 1, true}, {"Worker", 2, 2, 2, false}}},
      {"rayjobs",
       R"({"rayClusterSpec":{"headGroupSpec":{"template":)" + pod +
           R"(},"workerGroupSpecs":[{"groupName":"w","replicas":3,"minReplicas":1,"maxReplicas":5,)"
           R"("template":)" +
           pod + "}]}}",
       {{"head", 1, 1, 1, true}, {"w", 1, 3, 5, false}}},
      {"jobs",
       R"({"parallelism":5,"completions":3,"template":)" + pod + "}",
       {{"pod", 1, 3, 3, false}}},
      {"jobs",
       R"({"tasks":[{"name":"t","replicas":4,"minAvailable":2,"template":)" + pod + "}]}",
       {{"t", 2, 4, 4, false}}},
  };
  for (const auto& c : cases) {
    const auto all = parts(c.resource, c.spec);
    ASSERT_EQ(all.size(), c.want.size()) << c.resource;
    for (size_t i = 0; i < all.size(); i++) {
      EXPECT_EQ(all[i].name, c.want[i].name) << c.resource;
      EXPECT_EQ(all[i].minReplicas, c.want[i].min) << c.resource;
      EXPECT_EQ(all[i].replicas, c.want[i].replicas) << c.resource;
      EXPECT_EQ(all[i].maxReplicas, c.want[i].max) << c.resource;
      EXPECT_EQ(all[i].critical, c.want[i].critical) << c.resource;
      EXPECT_EQ(all[i].requests.cpu().v, 2000) << c.resource;
      EXPECT_EQ(all[i].claim.nodeSelector.at("x"), "y") << c.resource;
    }
  }
  const auto train = parts("trainjobs", R"({"trainer":{"numNodes":3,"resourcesPerNode":{)"
                                        R"("requests":{"cpu":"4"}}}})");
  EXPECT_EQ(train.at(0).replicas, 3);
  EXPECT_EQ(train.at(0).requests.cpu().v, 4000);
}

TEST(Components, WhatIsWrongIsNamed) {
  EXPECT_EQ(
      trouble("sparkapplications", R"({"executor":{"memory":"4 apples"}})"),
      "spec.executor: memory: '4 apples' is no memory size: want an integer and b, k, m, g, t "
      "or p");
  EXPECT_EQ(trouble("sparkapplications", R"({"memoryOverheadFactor":"-1"})"),
            "spec.driver: spec.memoryOverheadFactor: '-1', want a number from 0 to 100");
  EXPECT_NE(trouble("sparkapplications", R"({"executor":{"coreRequest":"many"}})"), "");
  EXPECT_NE(trouble("flinkdeployments", R"({"taskManager":{"resource":{"memory":"x"}}})"), "");
  EXPECT_NE(trouble("sparkapplications", R"({"executor":{"memory":"9999999999p"}})"), "");
  TextDoc doc;
  const auto unknown = componentsOf("cronjobs", *doc.parse("{}"));
  ASSERT_TRUE(unknown);
  EXPECT_FALSE(*unknown);
}

TEST(Components, MemoryTexts) {
  const struct {
    const char* text;
    int64_t java, flink;
  } cases[] = {{"1", kMiB.v, 1},
               {"2k", 2048, 2048},
               {"2KB", 2048, 2048},
               {"3m", 3 * kMiB.v, 3 * kMiB.v},
               {"1tb", int64_t{1} << 40, int64_t{1} << 40},
               {"2 gb", int64_t{2} << 30, int64_t{2} << 30},
               {"1Gi", -1, int64_t{1} << 30},
               {"7 mebibytes", -1, 7 * kMiB.v},
               {"1.5g", -1, -1},
               {"", -1, -1},
               {"g", -1, -1},
               {"-1g", -1, -1}};
  for (const auto& c : cases) {
    const auto java = parseJavaMemory(c.text, kMiB.v), flink = parseFlinkMemory(c.text);
    EXPECT_EQ(java ? java->v : -1, c.java) << c.text;
    EXPECT_EQ(flink ? flink->v : -1, c.flink) << c.text;
  }
}

}  // namespace
}  // namespace mangrove::api
