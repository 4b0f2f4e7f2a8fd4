// ConfigMap, Namespace, Service, PriorityClass, budgets, storage and workloads.
#include <gtest/gtest.h>

#include "api/object/core_objects.h"
#include "api/object/storage.h"
#include "api/object/workload.h"

namespace mangrove::api {
namespace {

template <class T>
T decoded(std::string_view text) {
  auto value = decodeText<T>(text);
  EXPECT_TRUE(value) << value.error().text();
  return value ? *std::move(value) : T();
}

TEST(CoreObjects, AreRead) {
  const auto map =
      decoded<ConfigMap>(R"({"metadata":{"name":"c"},"data":{"k":"v"},"immutable":true})");
  EXPECT_EQ(*map.find("k"), "v");
  EXPECT_EQ(map.find("x"), nullptr);
  EXPECT_TRUE(map.immutable);
  EXPECT_EQ(decoded<Secret>(R"({"type":"Opaque","data":{"a":"YQ=="}})").data.at("a"), "YQ==");
  EXPECT_TRUE(decoded<Namespace>(R"({"status":{"phase":"Terminating"}})").isTerminating);
  EXPECT_FALSE(decoded<Namespace>(R"({"status":{"phase":"Active"}})").isTerminating);
  EXPECT_EQ(decoded<Service>(R"({"spec":{"selector":{"a":"b"}}})").selector, (Labels{{"a", "b"}}));
  const auto priority = decoded<PriorityClass>(
      R"({"value":9000,"globalDefault":true,"preemptionPolicy":"Never","description":"d"})");
  EXPECT_EQ(priority.value, 9000);
  EXPECT_TRUE(priority.globalDefault);
  EXPECT_EQ(priority.preemptionPolicy, PreemptionPolicy::kNever);
  const auto quota =
      decoded<ResourceQuota>(R"({"spec":{"hard":{"pods":"3"}},"status":{"used":{"pods":"1"}}})");
  EXPECT_EQ(quota.hard.amount("pods").value(), 3);
  EXPECT_EQ(quota.used.amount("pods").value(), 1);
}

TEST(CoreObjects, DisruptionBudget) {
  const auto budget = decoded<PodDisruptionBudget>(R"({"metadata":{"namespace":"n"},
    "spec":{"selector":{"matchLabels":{"a":"b"}},"minAvailable":"50%","maxUnavailable":1,
      "unhealthyPodEvictionPolicy":"AlwaysAllow"},
    "status":{"disruptionsAllowed":2,"currentHealthy":3,"desiredHealthy":1,"expectedPods":4,
      "observedGeneration":5,"disruptedPods":{"p":"2026-01-01T00:00:00Z"},
      "conditions":[{"type":"DisruptionAllowed","status":"True"}]}})");
  EXPECT_TRUE(compile(budget.selector)->matches({{"a", "b"}}));
  EXPECT_EQ(budget.minAvailable->text, "50%");
  EXPECT_EQ(budget.maxUnavailable->number, 1);
  EXPECT_EQ(budget.disruptionsAllowed, 2);
  EXPECT_EQ(budget.desiredHealthy, 1);
  EXPECT_EQ(budget.disruptedPods.count("p"), 1u);
  EXPECT_TRUE(isTrue(budget.conditions, "DisruptionAllowed"));
  EXPECT_FALSE(decoded<PodDisruptionBudget>("{}").selector);
}

TEST(Storage, VolumesAndClaims) {
  const auto volume = decoded<PersistentVolume>(R"({"spec":{"capacity":{"storage":"10Gi"},
    "accessModes":["ReadWriteOnce"],"storageClassName":"fast","volumeMode":"Block",
    "persistentVolumeReclaimPolicy":"Retain","claimRef":{"namespace":"n","name":"c","uid":"u"},
    "nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[
      {"key":"zone","operator":"In","values":["a"]}]}]}},
    "csi":{"driver":"d","volumeHandle":"h"}},"status":{"phase":"Bound"}})");
  EXPECT_EQ(volume.capacity.amount("storage").value(), int64_t{10} << 30);
  EXPECT_EQ(volume.claimRef->name, "c");
  EXPECT_TRUE(NodeTerms(*volume.nodeAffinity).match("n", {{"zone", "a"}}));
  EXPECT_EQ(volume.csiDriver.view(), "d");
  EXPECT_EQ(volume.phase.view(), "Bound");
  EXPECT_EQ(decoded<PersistentVolume>(R"({"spec":{"awsElasticBlockStore":{"volumeID":"v"}}})")
                .sourceKind.view(),
            "awsElasticBlockStore");
  const auto claim = decoded<PersistentVolumeClaim>(R"({"spec":{"accessModes":["ReadWriteOncePod"],
    "resources":{"requests":{"storage":"1Gi"}},"volumeName":"v","storageClassName":"",
    "selector":{"matchLabels":{"a":"b"}}},"status":{"phase":"Bound"}})");
  EXPECT_TRUE(claim.isBound());
  EXPECT_TRUE(claim.storageClassName && claim.storageClassName->empty());
  EXPECT_FALSE(decoded<PersistentVolumeClaim>(R"({"spec":{}})").storageClassName);
  EXPECT_TRUE(claim.selector.has_value());
}

TEST(Storage, ClassesAndDrivers) {
  const auto storage =
      decoded<StorageClass>(R"({"provisioner":"p","volumeBindingMode":"WaitForFirstConsumer",
    "allowedTopologies":[{"matchLabelExpressions":[{"key":"zone","values":["a","b"]}]}],
    "parameters":{"x":"y"}})");
  EXPECT_TRUE(storage.waitsForConsumer);
  EXPECT_TRUE(NodeTerm(storage.allowedTopologies.at(0)).matches("n", {{"zone", "b"}}));
  EXPECT_FALSE(NodeTerm(storage.allowedTopologies.at(0)).matches("n", {{"zone", "c"}}));
  const auto node = decoded<CsiNode>(R"({"spec":{"drivers":[{"name":"d","nodeID":"i",
    "topologyKeys":["zone"],"allocatable":{"count":25}},{"name":"e"}]}})");
  EXPECT_EQ(node.drivers.at(0).allocatableCount, 25);
  EXPECT_EQ(node.drivers.at(1).allocatableCount, std::nullopt);
  const auto driver =
      decoded<CsiDriver>(R"({"spec":{"storageCapacity":true,"attachRequired":false}})");
  EXPECT_TRUE(driver.storageCapacity);
  EXPECT_FALSE(driver.attachRequired);
  const auto capacity = decoded<CsiStorageCapacity>(
      R"({"storageClassName":"fast","capacity":"5Gi","nodeTopology":{"matchLabels":{"a":"b"}}})");
  EXPECT_EQ(capacity.capacity->value(), int64_t{5} << 30);
  EXPECT_FALSE(capacity.maximumVolumeSize);
  const auto attachment = decoded<VolumeAttachment>(R"({"spec":{"attacher":"d","nodeName":"n",
    "source":{"persistentVolumeName":"v"}},"status":{"attached":true}})");
  EXPECT_TRUE(attachment.attached);
  EXPECT_EQ(attachment.volumeName, "v");
}

struct WorkloadCase {
  const char* json;
  int32_t wanted, replicas, ready;
};

TEST(Workload, AllOwnersAnswerTheSameQuestions) {
  const WorkloadCase table[] = {
      {R"({"spec":{"replicas":3},"status":{"replicas":2,"readyReplicas":1}})", 3, 2, 1},
      {R"({"spec":{},"status":{}})", 1, 0, 0},
      {R"({"spec":{"replicas":0}})", 0, 0, 0},
      {R"({"spec":{"parallelism":5,"completions":9},"status":{"active":4,"ready":2,"succeeded":1}})",
       5, 4, 2},
      {R"({"spec":{},"status":{"desiredNumberScheduled":7,"currentNumberScheduled":6,"numberReady":5}})",
       7, 6, 5},
  };
  for (const WorkloadCase& row : table) {
    const auto workload = decoded<Workload>(row.json);
    EXPECT_EQ(workload.wanted, row.wanted) << row.json;
    EXPECT_EQ(workload.replicas, row.replicas) << row.json;
    EXPECT_EQ(workload.ready, row.ready) << row.json;
  }
}

TEST(Workload, SelectorsOfBothKindsAndTemplate) {
  const auto modern = decoded<Workload>(R"({"spec":{"selector":{"matchLabels":{"a":"b"}},
    "strategy":{"rollingUpdate":{"maxUnavailable":"25%","maxSurge":1}},"paused":true,
    "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c"}]}}}})");
  EXPECT_TRUE(compile(modern.selector)->matches({{"a", "b"}}));
  EXPECT_FALSE(compile(modern.selector)->matches({}));
  EXPECT_EQ(modern.maxUnavailable->text, "25%");
  EXPECT_TRUE(modern.paused);
  EXPECT_EQ(modern.podTemplate.spec->containers.size(), 1u);
  EXPECT_EQ(modern.podTemplate.meta.labels.get("a"), "b");
  const auto plain = decoded<Workload>(R"({"spec":{"selector":{"app":"x"}}})");
  EXPECT_TRUE(compile(plain.selector)->matches({{"app", "x"}}));
  EXPECT_FALSE(compile(plain.selector)->matches({{"app", "y"}}));
}

}  // namespace
}  // namespace mangrove::api
