// Pod mutating admission: what the reference writes, and what came on top.
#include "manager/webhook/pod/mutate.h"

#include <gtest/gtest.h>

#include "manager/webhook/test_support.h"

namespace mangrove::manager {
namespace {

using testing::Asked;
using testing::at;
using testing::clusterWith;

constexpr std::string_view kBatchProfile =
    R"({"metadata":{"name":"batch"},"spec":{"qosClass":"BE","priorityClassName":"koord-batch"}})";

struct Outcome {
  Review review;
  json::Value pod;
  std::string operator[](std::string_view path) const { return at(pod, path); }
};

Outcome admit(std::string_view pod, const Surroundings& around, std::string_view ns = "default") {
  Asked asked(Operation::kCreate, pod);
  asked.request.ns = ns;
  Outcome out;
  out.review = mutatePod(asked.request, around);
  out.pod = asked.after(out.review);
  return out;
}

std::string podOf(std::string_view containers, std::string_view more = "",
                  std::string_view meta = R"("labels":{"app":"x"})") {
  return std::string(R"({"metadata":{"name":"p",)") + std::string(meta) +
         R"(},"spec":{"containers":[)" + std::string(containers) + "]" + std::string(more) + "}}";
}

constexpr std::string_view kLimits = "spec|containers|0|resources|limits";
constexpr std::string_view kRequests = "spec|containers|0|resources|requests";

TEST(PodMutating, TranslatesContainersInitContainersAndOverhead) {  // case 45
  const auto out = admit(
      podOf(
          R"({"name":"c","resources":{"requests":{"cpu":"1","memory":"4Gi"},)"
          R"("limits":{"cpu":"1","memory":"4Gi"}}})",
          R"(,"initContainers":[{"name":"i","resources":{"requests":{"cpu":"500m","memory":"1Gi"}}}],)"
          R"("overhead":{"cpu":"1","memory":"2Gi"})"),
      clusterWith({kBatchProfile}));
  const std::string want = R"({"kubernetes.io/batch-cpu":"1k","kubernetes.io/batch-memory":"4Gi"})";
  EXPECT_EQ(out[kRequests], want);
  EXPECT_EQ(out[kLimits], want);
  EXPECT_EQ(out["spec|initContainers|0|resources|requests"],
            R"({"kubernetes.io/batch-cpu":"500","kubernetes.io/batch-memory":"1Gi"})");
  EXPECT_EQ(out["spec|overhead"],
            R"({"kubernetes.io/batch-cpu":"1k","kubernetes.io/batch-memory":"2Gi"})");
  EXPECT_EQ(out["spec|priority"], "5000");
  EXPECT_EQ(out["metadata|labels|koordinator.sh/qosClass"], "BE");
}

TEST(PodMutating, LimitsAloneBecomeRequestsToo) {  // case 46
  const auto out = admit(podOf(R"({"name":"c","resources":{"limits":{"cpu":"1","memory":"4Gi"}}})"),
                         clusterWith({kBatchProfile}));
  EXPECT_EQ(out[kRequests],
            R"({"kubernetes.io/batch-cpu":"1k","kubernetes.io/batch-memory":"4Gi"})");
}

TEST(PodMutating, RequestsAloneStayAlone) {  // case 47
  const auto out = admit(podOf(R"({"name":"c","resources":{"requests":{"cpu":"1"}}})"),
                         clusterWith({kBatchProfile}));
  EXPECT_EQ(out[kRequests], R"({"kubernetes.io/batch-cpu":"1k"})");
  EXPECT_EQ(out[kLimits], "(absent)");
}

TEST(PodMutating, AppliesAProfileWhenTheDrawIsBelowItsProbability) {  // case 48
  struct Case {
    std::string_view probability;
    int draw;
    bool applied;
  } cases[] = {{"0", 0, false},         {"100", 99, true},      {"50", 70, false},
               {"50", 30, true},        {"50", 50, false},      {R"("30%")", 29, true},
               {R"("30%")", 30, false}, {R"("100%")", 99, true}};
  for (const Case& c : cases) {
    auto around = clusterWith({std::string(R"({"metadata":{"name":"p"},"spec":{"qosClass":"BE",)") +
                               R"("probability":)" + std::string(c.probability) + "}}"});
    around.draw = [&] { return c.draw; };
    const auto out = admit(podOf(R"({"name":"c","resources":{"requests":{"cpu":"1"}}})"), around);
    EXPECT_EQ(out["metadata|labels|koordinator.sh/qosClass"] == "BE", c.applied) << c.probability;
    EXPECT_EQ(out[kRequests].find("batch") != std::string::npos, c.applied) << c.probability;
  }
}

TEST(PodMutating, DrawsTheSameForTheSameQuestion) {
  const auto around =
      clusterWith({R"({"metadata":{"name":"p"},"spec":{"qosClass":"BE","probability":50}})"});
  int applied = 0;
  for (int i = 0; i < 1000; ++i) {
    Asked asked(Operation::kCreate, podOf(R"({"name":"c"})"));
    asked.request.uid = "question-" + std::to_string(i);
    const Review first = mutatePod(asked.request, around);
    EXPECT_EQ(first.patch, mutatePod(asked.request, around).patch);
    applied += first.patch.is_null() ? 0 : 1;
  }
  EXPECT_GT(applied, 400);
  EXPECT_LT(applied, 600);
}

TEST(PodMutating, RefusesAProbabilityThatIsNone) {
  const auto around = clusterWith({R"({"metadata":{"name":"p"},"spec":{"probability":"often"}})"});
  const auto out = admit(podOf(R"({"name":"c"})"), around);
  EXPECT_FALSE(out.review.allowed);
  EXPECT_EQ(out.review.message,
            "ClusterColocationProfile p: probability 'often': want 30 or \"30%\"");
}

TEST(PodMutating, CopiesKeysThatAreThereOnly) {  // case 49
  const auto out = admit(podOf(R"({"name":"c"})"),
                         clusterWith({R"({"metadata":{"name":"p"},"spec":{)"
                                      R"("labelKeysMapping":{"a":"b","app":"app-copy"},)"
                                      R"("labelSuffixes":{"app":"-s","none":"-s"}}})"}));
  EXPECT_EQ(out["metadata|labels"], R"({"app":"x-s","app-copy":"x"})");
}

TEST(PodMutating, SkipUpdateResourcesOfOneProfileCountsForAll) {  // case 50
  const auto out = admit(
      podOf(R"({"name":"c","resources":{"requests":{"cpu":"1"}}})"),
      clusterWith(
          {R"({"metadata":{"name":"a","annotations":)"
           R"({"config.koordinator.sh/skip-update-resources":""}},"spec":{"labels":{"a":"1"}}})",
           R"({"metadata":{"name":"b"},"spec":{"qosClass":"BE","labels":{"b":"1"}}})"}));
  EXPECT_EQ(out[kRequests], R"({"cpu":"1"})");
  EXPECT_EQ(out["metadata|labels"],
            R"({"a":"1","app":"x","b":"1","koordinator.sh/qosClass":"BE"})");
}

TEST(PodMutating, RefusesAnUnknownPriorityClass) {  // case 51
  const auto out =
      admit(podOf(R"({"name":"c"})"),
            clusterWith({R"({"metadata":{"name":"p"},"spec":{"priorityClassName":"nope"}})"}));
  EXPECT_FALSE(out.review.allowed);
  EXPECT_EQ(out.review.code, 500);
  EXPECT_EQ(out.review.message, "ClusterColocationProfile p: PriorityClass 'nope' does not exist");
}

TEST(PodMutating, LeavesResourcesOfFreePodsAlone) {  // case 52
  const auto out = admit(
      podOf(R"({"name":"c","resources":{"requests":{"cpu":"1"}}})"),
      clusterWith({R"({"metadata":{"name":"p"},"spec":{"priorityClassName":"koord-free"}})"}));
  EXPECT_EQ(out[kRequests], R"({"cpu":"1"})");
  EXPECT_EQ(out["spec|priority"], "3000");
}

TEST(PodMutating, ExpandsGpus) {  // cases 53 and 54
  struct Case {
    std::string_view requests, want;
  } cases[] = {
      {R"({"koordinator.sh/gpu":"200"})",
       R"({"koordinator.sh/gpu-core":"200","koordinator.sh/gpu-memory-ratio":"200","koordinator.sh/gpu.shared":"2"})"},
      {R"({"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"50"})",
       R"({"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"50","koordinator.sh/gpu.shared":"1"})"},
      {R"({"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"200"})",
       R"({"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"200","koordinator.sh/gpu.shared":"2"})"},
  };
  for (const Case& c : cases)
    EXPECT_EQ(
        admit(podOf(R"({"name":"c","resources":{"requests":)" + std::string(c.requests) + "}}"),
              clusterWith())[kRequests],
        c.want);
}

TEST(PodMutating, AdmitsPodsWithoutAProfileThatCannotBeRead) {
  const auto out = admit(
      podOf(R"({"name":"c"})"),
      clusterWith(
          {R"({"metadata":{"name":"p"},"spec":{"qosClass":"BE","selector":{"matchExpressions":)"
           R"([{"key":"app","operator":"Near","values":["x"]}]}}})",
           R"({"metadata":{"name":"q"},"spec":{"qosClass":"BE","namespaceSelector":{}}})"}),
      "unknown-namespace");
  EXPECT_TRUE(out.review.allowed);
  EXPECT_TRUE(out.review.patch.is_null());
}

TEST(PodMutating, StopOnMatchAndPrecedenceDecideBetweenProfiles) {
  const auto out = admit(
      podOf(R"({"name":"c"})"),
      clusterWith({R"({"metadata":{"name":"a","annotations":{"mangrove.io/profile-priority":"5",)"
                   R"("mangrove.io/profile-stop-on-match":"true"}},"spec":{"labels":{"who":"a"}}})",
                   R"({"metadata":{"name":"z"},"spec":{"labels":{"who":"z","z":"1"}}})"}));
  EXPECT_EQ(out["metadata|labels"], R"({"app":"x","who":"a"})");
}

TEST(PodMutating, RecordsInitContainersInTheExtendedSpec) {
  const auto out = admit(
      podOf(
          R"({"name":"c","resources":{"requests":{"kubernetes.io/batch-cpu":"1000"}}})",
          R"(,"initContainers":[{"name":"i","resources":{"requests":{"kubernetes.io/batch-cpu":"500"}}}])"),
      clusterWith());
  EXPECT_EQ(out["metadata|annotations|node.koordinator.sh/extended-resource-spec"],
            R"({"containers":{"c":{"requests":{"kubernetes.io/batch-cpu":"1k"}},)"
            R"("i":{"requests":{"kubernetes.io/batch-cpu":"500"}}}})");
}

TEST(PodMutating, MovesResourcesOfThePodAsAWholeDown) {
  const auto out = admit(podOf(R"({"name":"c","resources":{"requests":{"cpu":"1"}}},{"name":"d"})",
                               R"(,"resources":{"requests":{"cpu":"4","memory":"1Gi"}})"),
                         clusterWith({kBatchProfile}));
  EXPECT_EQ(out["spec|resources"], "(absent)");
  EXPECT_EQ(out[kRequests],
            R"({"kubernetes.io/batch-cpu":"4k","kubernetes.io/batch-memory":"1Gi"})");
}

TEST(PodMutating, TurnsColocationByLabelIntoBatch) {
  const std::string pod = podOf(
      R"({"name":"c","resources":{"requests":{"cpu":"1500m","memory":"2Gi"},"limits":{"cpu":"2"}}})",
      "", R"("labels":{"caster.io/resource-type":"colocation"})");
  const auto out = admit(pod, clusterWith());
  EXPECT_EQ(out[kRequests],
            R"({"kubernetes.io/batch-cpu":"1500","kubernetes.io/batch-memory":"2Gi"})");
  EXPECT_EQ(out[kLimits], R"({"kubernetes.io/batch-cpu":"2k","kubernetes.io/batch-memory":"2Gi"})");
  EXPECT_EQ(out["metadata|labels|koordinator.sh/qosClass"], "BE");
  EXPECT_EQ(out["metadata|labels|koordinator.sh/priority-class"], "koord-batch");
  EXPECT_EQ(out["spec|priorityClassName"], "koord-batch");
  EXPECT_EQ(out["metadata|annotations|colocation.mangrove.io/original-resources"],
            R"({"c":{"limits":{"cpu":"2"},"requests":{"cpu":"1500m","memory":"2Gi"}}})");
  const auto again = admit(json::write(out.pod), clusterWith());
  EXPECT_TRUE(again.review.patch.is_null()) << json::write(again.review.patch);
}

TEST(PodMutating, AssumesOrRefusesMissingAmountsOfColocatedPods) {
  const std::string pod =
      podOf(R"({"name":"c"})", "", R"("labels":{"colocation.mangrove.io/resource-type":"batch"})");
  EXPECT_EQ(admit(pod, clusterWith())[kRequests],
            R"({"kubernetes.io/batch-cpu":"1k","kubernetes.io/batch-memory":"2Gi"})");
  auto strict = clusterWith();
  strict.byLabel.refuseWithoutAmounts = true;
  EXPECT_EQ(admit(pod, strict).review.message,
            "container c asks for no cpu; colocated pods must say how much they need");
  auto caster = clusterWith();
  caster.byLabel.casterNames = true;
  EXPECT_EQ(admit(pod, caster)[kLimits],
            R"({"caster.io/colocation-cpu":"1k","caster.io/colocation-memory":"2Gi"})");
}

TEST(PodMutating, SpeaksOtherQosDialects) {
  struct Case {
    std::string_view annotations, want;
    bool conflict;
  } cases[] = {
      {R"("katalyst.kubewharf.io/qos_level":"reclaimed_cores","volcano.sh/preemptable":"false")",
       "LS", true},  // T-XX-2
      {R"("katalyst.kubewharf.io/qos_level":"dedicated_cores")", "LSR", false},
      {R"("katalyst.kubewharf.io/qos_level":"dedicated_cores","katalyst.kubewharf.io/memory_enhancement":"{\"numa_exclusive\":\"true\"}")",
       "LSE", false},
      {R"("katalyst.kubewharf.io/qos_level":"system_cores")", "SYSTEM", false},
      {R"("volcano.sh/qos-level":"HLS","volcano.sh/preemptable":"false")", "LSR", false},
      {R"("volcano.sh/qos-level":"LC","katalyst.kubewharf.io/qos_level":"shared_cores")", "LSE",
       true},
      {R"("volcano.sh/preemptable":"true")", "BE", false},
      {R"("volcano.sh/preemptable":"false")", "LS", false},
      {R"("volcano.sh/qos-level":"unheard-of")", "(absent)", false},
  };
  for (const Case& c : cases) {
    const auto out =
        admit(podOf(R"({"name":"c"})", "", R"("annotations":{)" + std::string(c.annotations) + "}"),
              clusterWith());
    EXPECT_EQ(out["metadata|labels|koordinator.sh/qosClass"], c.want) << c.annotations;
    EXPECT_EQ(out.review.notices.size(), c.conflict ? 1U : 0U) << c.annotations;
  }
  const auto own = admit(podOf(R"({"name":"c"})", "",
                               R"("labels":{"koordinator.sh/qosClass":"BE"},)"
                               R"("annotations":{"volcano.sh/qos-level":"LC"})"),
                         clusterWith());
  EXPECT_TRUE(own.review.patch.is_null());
}

TEST(PodMutating, SendsPodsOfAQuotaTreeToItsNodes) {
  auto around = clusterWith();
  around.gates.multiQuotaTree = true;
  Quota quota;
  quota.ns = quota.name = "default";
  quota.treeId = "7";
  api::LabelSelector nodes;
  nodes.matchLabels.set("pool", "a");
  around.quotas = std::make_shared<const QuotaTree>(std::vector<Quota>{quota},
                                                    QuotaTree::TreeNodes{{"7", nodes}});
  const auto out = admit(podOf(R"({"name":"c"})"), around);
  EXPECT_EQ(out["spec|affinity|nodeAffinity|requiredDuringSchedulingIgnoredDuringExecution"],
            R"({"nodeSelectorTerms":[{"matchExpressions":)"
            R"([{"key":"pool","operator":"In","values":["a"]}]}]})");
}

TEST(PodMutating, SaysWhatIsWrongWithAPodThatCannotBeRead) {
  Asked asked(Operation::kCreate, R"({"metadata":{"labels":[1]}})");
  const Review review = mutatePod(asked.request, clusterWith());
  EXPECT_EQ(review.code, 400);
  EXPECT_NE(review.message.find("metadata.labels"), std::string::npos) << review.message;
}

TEST(PodMutating, LeavesUpdatesAndSubresourcesAlone) {
  Asked asked(Operation::kUpdate, podOf(R"({"name":"c"})"), podOf(R"({"name":"c"})"));
  EXPECT_TRUE(mutatePod(asked.request, clusterWith({kBatchProfile})).patch.is_null());
  asked.request.operation = Operation::kCreate;
  asked.request.subresource = "eviction";
  EXPECT_TRUE(mutatePod(asked.request, clusterWith({kBatchProfile})).patch.is_null());
}

}  // namespace
}  // namespace mangrove::manager
