// What is done to pods and nodes on their way into the cache (docs/scheduler.md).
#include "placement/intake/transform.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "placement/testing/lab.h"

namespace mangrove::placement {
namespace {

api::Pod podOf(std::string_view meta, std::string_view spec, std::string_view status = "{}") {
  return *api::decodeText<api::Pod>(
      fmt::format(R"({{"metadata":{{"name":"p","namespace":"d"{}}},"spec":{{{}}},"status":{}}})",
                  meta, spec, status));
}

std::string textOf(const api::ResourceList& list) {
  std::string out;
  for (const auto& entry : list)
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", entry.name.view(), entry.amount.text());
  return out;
}

TEST(Transform, gives_deprecated_resources_their_present_names) {
  api::Pod pod = podOf("", R"("containers":[{"name":"c","resources":{
      "requests":{"koordinator.sh/batch-cpu":"1000","memory":"1Gi"},
      "limits":{"koordinator.sh/batch-cpu":"1000"}}}],
      "overhead":{"koordinator.sh/batch-memory":"2Gi"})");
  transformPod(pod);
  EXPECT_EQ(textOf(pod.spec->containers[0].requests), "kubernetes.io/batch-cpu=1k memory=1Gi");
  EXPECT_EQ(textOf(pod.spec->containers[0].limits), "kubernetes.io/batch-cpu=1k");
  EXPECT_EQ(textOf(pod.spec->overhead), "kubernetes.io/batch-memory=2Gi");
}

TEST(Transform, replaces_and_erases_resources_when_asked) {
  struct Row {
    const char *rules, *before, *after;
  };
  const Row rows[] = {
      {"cpu:,memory:example.io/memory", R"({"cpu":"2","memory":"4Gi","example.io/gpu":"1"})",
       "example.io/gpu=1 example.io/memory=4Gi"},
      {"cpu:example.io/cpu", R"({"cpu":"1500m"})",
       "example.io/cpu=1500"},  // a count of thousandths
      {"a.io/x:b.io/y", R"({"a.io/x":"3","b.io/y":"5"})", "a.io/x=3 b.io/y=5"},  // taken already
      {"cpu:a:b,nonsense", R"({"cpu":"1"})", "cpu=1"},
      {" cpu : example.io/cpu ", R"({"cpu":"1"})", "example.io/cpu=1k"},
      {"", R"({"cpu":"1"})", "cpu=1"},
  };
  for (const Row& row : rows) {
    const std::string meta =
        fmt::format(R"(,"annotations":{{"pod.koordinator.sh/replace-resources":"{}"}})", row.rules);
    const std::string spec = fmt::format(
        R"("containers":[{{"name":"c","resources":{{"requests":{0},"limits":{0}}}}}],
           "initContainers":[{{"name":"i","resources":{{"requests":{0}}}}}],"overhead":{0})",
        row.before);
    api::Pod pod = podOf(meta, spec);
    const api::Pod before = pod;
    applyTransforms(pod, {});
    EXPECT_TRUE(pod.spec.same(before.spec)) << "nobody asked";
    PodTransforms wanted;
    wanted.replaceResources = true;
    applyTransforms(pod, wanted);
    EXPECT_EQ(textOf(pod.spec->containers[0].requests), row.after) << row.rules;
    EXPECT_EQ(textOf(pod.spec->containers[0].limits), row.after) << row.rules;
    EXPECT_EQ(textOf(pod.spec->initContainers[0].requests), row.after) << row.rules;
    EXPECT_EQ(textOf(pod.spec->overhead), row.after) << row.rules;
  }
}

TEST(Transform, gives_pods_without_a_priority_that_of_their_band_when_asked) {
  struct Row {
    const char *labels, *spec, *status;
    std::optional<int32_t> priority;
  };
  const char* const plain = R"("containers":[])";
  const Row rows[] = {
      {R"("koordinator.sh/qosClass":"LSR")", plain, "{}", 9500},
      {R"("koordinator.sh/qosClass":"BE")", plain, "{}", 5500},
      {R"("koordinator.sh/priority-class":"koord-mid")", plain, "{}", 7500},
      {R"("koordinator.sh/priority-class":"koord-free")", R"("priority":0,"containers":[])", "{}",
       3500},
      {"", R"("priority":42,"containers":[])", "{}", 42},  // said by itself
      {"", plain, R"({"qosClass":"Burstable"})", 9500},
      {"", plain, R"({"qosClass":"BestEffort"})", 5500},
      {R"("koordinator.sh/priority-class":"nonsense")", plain, R"({"qosClass":"Burstable"})", 9500},
  };
  PodTransforms wanted;
  wanted.priority = true;
  for (const Row& row : rows) {
    api::Pod pod = podOf(fmt::format(R"(,"labels":{{{}}})", row.labels), row.spec, row.status);
    applyTransforms(pod, wanted);
    EXPECT_EQ(pod.spec->priority, row.priority) << row.labels << row.spec << row.status;
    EXPECT_EQ(pod.spec->preemptionPolicy, api::PreemptionPolicy::kUnset);
  }
}

TEST(Transform, lets_the_label_decide_about_preemption_when_asked) {
  using Policy = api::PreemptionPolicy;
  struct Row {
    const char *label, *spec;
    Policy policy;
  };
  const Row rows[] = {
      {"Never", "", Policy::kNever},
      {"PreemptLowerPriority", "", Policy::kPreemptLowerPriority},
      {"PreemptLowerPriority", R"("preemptionPolicy":"Never",)", Policy::kPreemptLowerPriority},
      {"nonsense", R"("preemptionPolicy":"PreemptLowerPriority",)", Policy::kNever},
      {"", R"("preemptionPolicy":"PreemptLowerPriority",)", Policy::kNever},
  };
  PodTransforms wanted;
  wanted.preemptionPolicy = true;
  for (const Row& row : rows) {
    const std::string labels =
        *row.label
            ? fmt::format(R"(,"labels":{{"scheduling.koordinator.sh/preemption-policy":"{}"}})",
                          row.label)
            : "";
    api::Pod pod = podOf(labels, fmt::format(R"({}"containers":[])", row.spec));
    applyTransforms(pod, wanted);
    EXPECT_EQ(pod.spec->preemptionPolicy, row.policy) << row.label << row.spec;
    EXPECT_FALSE(pod.spec->priority);
  }
}

TEST(Transform, keeps_pods_of_one_class_together) {
  PodTransforms wanted;
  wanted.priority = wanted.preemptionPolicy = true;
  api::Pod a = podOf(R"(,"labels":{"koordinator.sh/qosClass":"LS"})", R"("containers":[])");
  api::Pod b = a;
  applyTransforms(a, wanted);
  applyTransforms(b, wanted);
  EXPECT_TRUE(a.spec.same(b.spec));
}

// The gates through the engine: with them the service may displace the batch pod, without them
// both have priority 0.
TEST(Transform, makes_bands_count_in_the_engine) {
  for (const bool gate : {false, true}) {
    SchedulerConfig config = defaultConfig({"default-scheduler"});
    config.transforms.priority = gate;
    Lab lab(config);
    lab.node(R"({"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"1","memory":"8Gi"}}})");
    const auto pod = [](std::string_view name, std::string_view qos, std::string_view node) {
      return fmt::format(
          R"({{"metadata":{{"name":"{}","labels":{{"koordinator.sh/qosClass":"{}"}}}},"spec":{{{}
              "containers":[{{"name":"c","resources":{{"requests":{{"cpu":"1"}}}}}}]}}}})",
          name, qos, node);
    };
    lab.pod(pod("batch", "BE", R"("nodeName":"n1",)"));
    lab.pod(pod("service", "LS", ""));
    lab.run();
    lab.wait(std::chrono::seconds(3));
    EXPECT_EQ(lab.nodeOf("service"), gate ? "n1" : "") << gate;
  }
}

TEST(Transform, serves_the_scheduler_that_the_label_names) {
  Lab lab;
  lab.node(R"({"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"4"}}})");
  const auto pod = [](std::string_view name, std::string_view label, std::string_view spec) {
    return fmt::format(
        R"({{"metadata":{{"name":"{}","labels":{{"scheduling.koordinator.sh/scheduler-name":"{}"}}}},
            "spec":{{"schedulerName":"{}","containers":[{{"name":"c"}}]}}}})",
        name, label, spec);
  };
  lab.pod(pod("ours", "koord-scheduler", "somebody-else"));
  lab.pod(pod("theirs", "somebody-else", "koord-scheduler"));
  lab.run();
  EXPECT_EQ(lab.nodeOf("ours"), "n1");
  EXPECT_EQ(lab.nodeOf("theirs"), "");
  EXPECT_EQ(lab.find("ours")->spec->schedulerName.view(), "somebody-else")
      << "the original is kept";
}

TEST(Transform, keeps_reserved_amounts_of_a_node_free) {
  struct Row {
    const char *reservation, *left;
  };
  const Row rows[] = {
      {R"({\"resources\":{\"cpu\":\"16\",\"memory\":\"12Gi\"}})",
       "cpu=80 kubernetes.io/batch-cpu=16k memory=500Gi"},
      {R"({\"reservedCPUs\":\"0-1\",\"resources\":{\"cpu\":\"5\"}})",
       "cpu=94 kubernetes.io/batch-cpu=16k memory=512Gi"},
      {R"({\"resources\":{\"cpu\":\"200\",\"kubernetes.io/batch-cpu\":\"1000\"}})",
       "cpu=0 kubernetes.io/batch-cpu=16k memory=512Gi"},
      {R"({\"resources\":{\"cpu\":\"16\"},\"applyPolicy\":\"ReservedCPUsOnly\"})",
       "cpu=96 kubernetes.io/batch-cpu=16k memory=512Gi"},
      {R"({\"resources\":{\"cpu\":\"16\"},\"applyPolicy\":\"Default\"})",
       "cpu=80 kubernetes.io/batch-cpu=16k memory=512Gi"},
      {R"({\"resources\":{\"example.io/gpu\":\"1\"}})",
       "cpu=96 kubernetes.io/batch-cpu=16k memory=512Gi"},
      {"nonsense", "cpu=96 kubernetes.io/batch-cpu=16k memory=512Gi"},
  };
  for (const Row& row : rows) {
    const auto node = *api::decodeText<api::Node>(fmt::format(
        R"({{"metadata":{{"name":"n","annotations":{{"node.koordinator.sh/reservation":"{}"}}}},
            "status":{{"allocatable":{{"cpu":"96","memory":"512Gi","kubernetes.io/batch-cpu":"16000"}}}}}})",
        row.reservation));
    EXPECT_EQ(textOf(schedulableAmounts(node)), row.left) << row.reservation;
  }
}

}  // namespace
}  // namespace mangrove::placement
