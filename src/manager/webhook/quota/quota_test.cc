// ElasticQuota admission and quota admission: a quota by itself, the tree, and the pods it takes.
#include <gtest/gtest.h>

#include "api/pod/pod_requests.h"
#include "manager/webhook/quota/admission.h"
#include "manager/webhook/quota/mutate.h"
#include "manager/webhook/quota/pods_of_quota.h"
#include "manager/webhook/quota/validate.h"
#include "manager/webhook/test_support.h"
#include "placement/intake/transform.h"

namespace mangrove::manager {
namespace {

using testing::Asked;
using testing::at;
using testing::clusterWith;

std::string quotaOfText(std::string_view name, std::string_view min, std::string_view max,
                        std::string_view meta = "", std::string_view more = "") {
  return R"({"metadata":{"namespace":"q","name":")" + std::string(name) + '"' +
         (meta.empty() ? "" : "," + std::string(meta)) + R"(},"spec":{"min":{)" + std::string(min) +
         R"(},"max":{)" + std::string(max) + "}}" + std::string(more) + "}";
}

std::string refusal(Operation operation, std::string_view quota, std::string_view old,
                    const Surroundings& around) {
  Asked asked(operation, quota, old);
  return validateQuota(asked.request, around).message;
}

Surroundings treeOf(std::vector<std::string> quotas) {
  Surroundings around = clusterWith();
  std::vector<Quota> all;
  for (const std::string& text : quotas)
    all.push_back(*quotaOf(*api::decodeText<api::ElasticQuota>(text)));
  around.quotas = std::make_shared<const QuotaTree>(std::move(all));
  return around;
}

constexpr std::string_view kParentLabels =
    R"("labels":{"quota.scheduling.koordinator.sh/is-parent":"true"})";
constexpr std::string_view kChildLabels =
    R"("labels":{"quota.scheduling.koordinator.sh/parent":"top"})";

TEST(QuotaValidating, RefusesQuotasThatContradictThemselves) {  // case 60
  const auto around = treeOf({});
  const auto create = [&](std::string_view min, std::string_view max, std::string_view meta = "") {
    return refusal(Operation::kCreate, quotaOfText("a", min, max, meta), "", around);
  };
  EXPECT_EQ(create(R"("cpu":"12")", R"("cpu":"10")"),
            "spec.min[cpu] is 12, more than spec.max allows (10)");
  EXPECT_EQ(create(R"("memory":"1Gi")", R"("cpu":"10")"),
            "spec.min[memory] is 1Gi, but spec.max does not name it");
  EXPECT_EQ(create("", R"("cpu":"-1")"),
            "spec.max[cpu] is -1; amounts of a quota are not negative");
  EXPECT_NE(
      create("", R"("cpu":"1")",
             R"("annotations":{"quota.scheduling.koordinator.sh/shared-weight":"{\"cpu\":-1}"})"),
      "");
  EXPECT_EQ(create(R"("cpu":"1")", R"("cpu":"10")"), "");
}

TEST(QuotaValidating, ResourcesAreTheSameAboveAndBelow) {  // case 61
  auto around =
      treeOf({quotaOfText("top", R"("cpu":"9")", R"("cpu":"10","memory":"1Gi")", kParentLabels)});
  const std::string child = quotaOfText("kid", R"("cpu":"1")", R"("cpu":"5")", kChildLabels);
  EXPECT_EQ(refusal(Operation::kCreate, child, "", around),
            "spec.max of quota kid lacks memory, which its parent top names");
  around.gates.quotaEnableUpdateResourceKey = true;
  EXPECT_EQ(refusal(Operation::kCreate, child, "", around), "");
}

TEST(QuotaValidating, MinOfChildrenFitsIntoTheParent) {
  const auto around = treeOf({quotaOfText("top", R"("cpu":"9")", R"("cpu":"10")", kParentLabels),
                              quotaOfText("one", R"("cpu":"6")", R"("cpu":"10")", kChildLabels)});
  const std::string child = quotaOfText("two", R"("cpu":"4")", R"("cpu":"10")", kChildLabels);
  EXPECT_EQ(refusal(Operation::kCreate, child, "", around),
            "spec.min of the children of quota top add up to 10 of cpu, more than its own spec.min "
            "(9)");
  EXPECT_EQ(refusal(Operation::kCreate,
                    quotaOfText("two", R"("cpu":"3")", R"("cpu":"10")", kChildLabels), "", around),
            "");
  EXPECT_NE(refusal(Operation::kCreate,
                    quotaOfText("orphan", "", "",
                                R"("labels":{"quota.scheduling.koordinator.sh/parent":"nobody"})"),
                    "", around),
            "");
}

TEST(QuotaValidating, StrictKeysNeverFallBelowUse) {  // case 62
  const auto around = treeOf({});
  const std::string_view strict =
      R"("annotations":{"quota.scheduling.koordinator.sh/max-strict-check-resource-keys":"[\"memory\"]"})";
  const auto with = [&](std::string_view used) {
    return refusal(Operation::kCreate,
                   quotaOfText("a", "", R"("memory":"1Mi")", strict,
                               R"(,"status":{"used":{)" + std::string(used) + "}}"),
                   "", around);
  };
  EXPECT_EQ(with(R"("memory":"10Mi")"), "spec.max[memory] is 1Mi, less than what is in use (10Mi)");
  EXPECT_EQ(with(R"("cpu":"1")"), "");
}

TEST(QuotaValidating, DeletesOnlyWhatNobodyNeeds) {
  auto around =
      treeOf({quotaOfText("top", "", "", kParentLabels), quotaOfText("one", "", "", kChildLabels)});
  EXPECT_EQ(refusal(Operation::kDelete, "", quotaOfText("top", "", "", kParentLabels), around),
            "quota top has 1 children, one among them; delete those first");
  around.podsOfQuota = [](std::string_view, const std::vector<std::string>&) {
    return PodsOfQuota{5, {"default/a", "default/b"}};
  };
  EXPECT_EQ(refusal(Operation::kDelete, "", quotaOfText("one", "", "", kChildLabels), around),
            "quota one has 5 pods, default/a and default/b among them");
  EXPECT_NE(
      refusal(Operation::kDelete, "", quotaOfText("koordinator-default-quota", "", ""), around),
      "");
}

TEST(QuotaValidating, ChecksEditsOfAnnotationsToo) {
  const auto around = treeOf({quotaOfText("a", "", R"("cpu":"1")")});
  const std::string now = quotaOfText(
      "a", "", R"("cpu":"1")",
      R"("annotations":{"quota.scheduling.koordinator.sh/shared-weight":"{\"cpu\":\"-5\"}"})");
  EXPECT_EQ(refusal(Operation::kUpdate, now, quotaOfText("a", "", R"("cpu":"1")"), around),
            "shared-weight[cpu] is -5; amounts of a quota are not negative");
}

TEST(QuotaValidating, ParentsStayParentsAndTreesStayTrees) {
  auto around =
      treeOf({quotaOfText("top", "", "", kParentLabels), quotaOfText("one", "", "", kChildLabels)});
  EXPECT_EQ(refusal(Operation::kUpdate, quotaOfText("top", "", ""),
                    quotaOfText("top", "", "", kParentLabels), around),
            "quota top has 1 children and must stay a parent");
  EXPECT_EQ(refusal(Operation::kUpdate,
                    quotaOfText("one", "", "",
                                R"("labels":{"quota.scheduling.koordinator.sh/parent":"top",)"
                                R"("quota.scheduling.koordinator.sh/tree-id":"9"})"),
                    quotaOfText("one", "", "", kChildLabels), around),
            "the tree id of quota one may not change ('' to '9')");
}

TEST(QuotaMutating, CompletesWeightParentAndTree) {  // case 63
  const auto around = treeOf({quotaOfText(
      "top", "", "",
      R"("labels":{"quota.scheduling.koordinator.sh/is-parent":"true","quota.scheduling.koordinator.sh/tree-id":"7"})")});
  Asked asked(
      Operation::kCreate,
      quotaOfText(
          "a", "", R"("cpu":"120","memory":"1Mi")",
          R"("labels":{"quota.scheduling.koordinator.sh/parent":"top"},)"
          R"("annotations":{"quota.scheduling.koordinator.sh/shared-weight":"{\"cpu\":\"0\",\"x\":\"1\"}"})"));
  const json::Value quota = asked.after(mutateQuota(asked.request, around));
  EXPECT_EQ(at(quota, "metadata|annotations|quota.scheduling.koordinator.sh/shared-weight"),
            R"({"cpu":"0","memory":"1Mi"})");
  EXPECT_EQ(at(quota, "metadata|labels|quota.scheduling.koordinator.sh/tree-id"), "7");
  Asked top(Operation::kCreate, quotaOfText("b", "", R"("cpu":"1")"));
  EXPECT_EQ(at(top.after(mutateQuota(top.request, around)),
               "metadata|labels|quota.scheduling.koordinator.sh/parent"),
            "koordinator-root-quota");
}

TEST(QuotaAdmission, BooksWhatFits) {  // case 64
  Quota quota;
  quota.ns = "q";
  quota.name = "team";
  quota.max = {{"cpu", "4"}};
  quota.childRequest = {{"cpu", "3"}};
  auto refused = bookOn(quota, {{"cpu", "2"}, {"memory", "1Gi"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(),
            "exceeded quota: q/team, requested: cpu=2, used: cpu=3, limited: cpu=4");
  auto booked = bookOn(quota, {{"cpu", "1"}, {"memory", "1Gi"}});
  ASSERT_TRUE(booked);
  EXPECT_EQ(*booked, (api::ResourceList{{"cpu", "4"}}));
  quota.admission = {{"memory", "1Gi"}};
  EXPECT_TRUE(bookOn(quota, {{"cpu", "100"}})) << "what the limit does not name is unlimited";
}

TEST(QuotaAdmission, EnforcesEveryKeyOfMax) {
  Quota quota;
  quota.ns = "q";
  quota.name = "team";
  quota.max = {{"example.com/fpga", "2"}};
  quota.childRequest = {{"example.com/fpga", "1"}};
  EXPECT_FALSE(bookOn(quota, {{"example.com/fpga", "2"}}));
  EXPECT_TRUE(bookOn(quota, {{"example.com/fpga", "1"}, {"cpu", "100"}}));
}

TEST(QuotaAdmission, TriesMoreOftenForManyPods) {  // case 65
  EXPECT_EQ(retryBudget(1, 10), 3);
  EXPECT_EQ(retryBudget(2, 10), 4);
  EXPECT_EQ(retryBudget(8, 10), 6);
  EXPECT_EQ(retryBudget(1000, 10), 10);
  EXPECT_EQ(retryBudget(1000, 1), 3);
}

TEST(QuotaAdmission, ChargesNewPodsAndPodsThatMove) {
  auto around = treeOf({quotaOfText("team", "", R"("cpu":"4")"), quotaOfText("other", "", "")});
  around.gates.quotaAdmission = true;
  api::Pod pod, old;
  pod.meta.labels.set("quota.scheduling.koordinator.sh/name", "team");
  EXPECT_EQ(quotaToCharge(pod, nullptr, "default", around), "team");
  old.meta.labels.set("quota.scheduling.koordinator.sh/name", "other");
  EXPECT_EQ(quotaToCharge(pod, &old, "default", around), "");
  around.gates.quotaAdmissionOnUpdate = true;
  EXPECT_EQ(quotaToCharge(pod, &old, "default", around), "team");
  EXPECT_EQ(quotaToCharge(pod, &pod, "default", around), "");
  EXPECT_EQ(quotaToCharge(api::Pod(), nullptr, "default", around), "") << "the default quota";
}

api::Pod podOfText(std::string_view annotations, std::string_view more) {
  return *api::decodeText<api::Pod>(R"({"metadata":{"name":"p","annotations":{)" +
                                    std::string(annotations) + R"(}},"spec":{)" +
                                    std::string(more) + "}}");
}

TEST(QuotaAdmission, OverheadIsChargedUnlessTheGateSaysNo) {
  const api::Pod pod = podOfText(
      "",
      R"("overhead":{"cpu":"1"},"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}])");
  WebhookGates gates;
  EXPECT_EQ(chargeOf(pod, gates, {}), (api::ResourceList{{"cpu", "3"}}));
  gates.quotaIgnorePodOverhead = true;
  EXPECT_EQ(chargeOf(pod, gates, {}), (api::ResourceList{{"cpu", "2"}}));
}

TEST(QuotaAdmission, ReplacedResourcesAreThoseThatTheSchedulerSees) {
  const api::Pod pod = podOfText(
      R"("pod.koordinator.sh/replace-resources":"cpu:example.com/batch,memory:example.com/taken")",
      R"("containers":[{"name":"c","resources":{"requests":{"cpu":"2","memory":"1Gi","example.com/taken":"5"}}}])");
  WebhookGates gates;
  EXPECT_TRUE(chargeOf(pod, gates, {}).has("cpu"));
  gates.quotaEvaluationTransformPod = true;
  EXPECT_TRUE(chargeOf(pod, gates, {}).has("cpu")) << "the scheduler would not replace it either";
  gates.replaceResources = true;
  api::Pod seen = pod;
  placement::PodTransforms transforms;
  transforms.replaceResources = true;
  placement::applyTransforms(seen, transforms);
  EXPECT_EQ(chargeOf(pod, gates, {}), api::podRequests(*seen.spec));
  EXPECT_EQ(chargeOf(pod, gates, {}),
            (api::ResourceList{
                {"example.com/batch", "2000"}, {"example.com/taken", "5"}, {"memory", "1Gi"}}))
      << "cpu in thousandths; what is there already is kept";
}

std::string guaranteed(std::string_view labels, std::string_view cpu) {
  return R"("labels":{"quota.scheduling.koordinator.sh/tree-id":"t",)" + std::string(labels) +
         R"(},"annotations":{"quota.scheduling.koordinator.sh/guaranteed":"{\"cpu\":\")" +
         std::string(cpu) + R"(\"}"})";
}

// The parent's guarantee is too small; whether the one above it covers the difference decides.
TEST(QuotaValidating, TheWalkForAGuaranteeEndsAtTheFirstWhoCoversIt) {
  const std::string parent = R"("quota.scheduling.koordinator.sh/is-parent":"true")";
  const auto below = [](std::string_view name) {
    return R"("quota.scheduling.koordinator.sh/parent":")" + std::string(name) + '"';
  };
  const auto raised = [&](std::string_view beside) {
    auto around = treeOf(
        {quotaOfText("org", R"("cpu":"40")", R"("cpu":"90")", guaranteed(parent, "40")),
         quotaOfText("rest", R"("cpu":"5")", R"("cpu":"90")", guaranteed(below("org"), beside)),
         quotaOfText("top", R"("cpu":"20")", R"("cpu":"90")",
                     guaranteed(parent + "," + below("org"), "20")),
         quotaOfText("one", R"("cpu":"10")", R"("cpu":"90")", guaranteed(below("top"), "10")),
         quotaOfText("two", R"("cpu":"5")", R"("cpu":"90")", guaranteed(below("top"), "12"))});
    around.gates.quotaGuaranteeUsage = true;
    return refusal(
        Operation::kUpdate,
        quotaOfText("one", R"("cpu":"11")", R"("cpu":"90")", guaranteed(below("top"), "10")),
        quotaOfText("one", R"("cpu":"10")", R"("cpu":"90")", guaranteed(below("top"), "10")),
        around);
  };
  EXPECT_EQ(raised("17"), "") << "23 below top, 40 below org";
  EXPECT_EQ(raised("18"), "spec.min of quota one is more than the quotas above it guarantee");
}

TEST(QuotaValidating, WhatIsGuaranteedMustBeGuaranteedAbove) {
  const std::string parent = R"("quota.scheduling.koordinator.sh/is-parent":"true")";
  const std::string child = R"("quota.scheduling.koordinator.sh/parent":"top")";
  auto around =
      treeOf({quotaOfText("top", R"("cpu":"20")", R"("cpu":"30")", guaranteed(parent, "20")),
              quotaOfText("one", R"("cpu":"10")", R"("cpu":"30")", guaranteed(child, "10")),
              quotaOfText("two", R"("cpu":"5")", R"("cpu":"30")", guaranteed(child, "12"))});
  const auto raise = [&](std::string_view min) {
    return refusal(
        Operation::kUpdate, quotaOfText("one", min, R"("cpu":"30")", guaranteed(child, "10")),
        quotaOfText("one", R"("cpu":"10")", R"("cpu":"30")", guaranteed(child, "10")), around);
  };
  EXPECT_EQ(raise(R"("cpu":"9")"), "");
  EXPECT_EQ(raise(R"("cpu":"11")"), "") << "the walk belongs to the gate";
  around.gates.quotaGuaranteeUsage = true;
  EXPECT_EQ(raise(R"("cpu":"9")"), "");
  EXPECT_EQ(raise(R"("cpu":"11")"),
            "spec.min of quota one is more than the quotas above it guarantee");
}

TEST(PodsOfQuota, CountsAPageAndWhatFollows) {
  auto pods = podsInPage(
      R"({"metadata":{"continue":"x","remainingItemCount":3},"items":[)"
      R"({"metadata":{"namespace":"a","name":"p"}},{"metadata":{"namespace":"a","name":"q"}}]})");
  ASSERT_TRUE(pods);
  EXPECT_EQ(pods->count, 5U);
  EXPECT_EQ(pods->names, (std::vector<std::string>{"a/p", "a/q"}));
}

}  // namespace
}  // namespace mangrove::manager
