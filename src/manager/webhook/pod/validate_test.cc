// Pod validating admission: the cases of spec 02 §5 (55–59), and what came on top of the reference.
#include "manager/webhook/pod/validate.h"

#include <gtest/gtest.h>

#include "manager/webhook/test_support.h"

namespace mangrove::manager {
namespace {

using testing::Asked;
using testing::clusterWith;

std::string podOf(std::string_view qos, int priority, std::string_view requests,
                  std::string_view more = "") {
  std::string labels = qos.empty() ? "" : R"("koordinator.sh/qosClass":")" + std::string(qos) + '"';
  return R"({"metadata":{"name":"p","labels":{)" + labels + R"(}},"spec":{"priority":)" +
         std::to_string(priority) + R"(,"containers":[{"name":"c","resources":{"requests":{)" +
         std::string(requests) + "}}}" + std::string(more) + "]}}";
}

std::string reasonsOf(std::string_view pod, std::string_view old = "",
                      const Surroundings& around = clusterWith()) {
  Asked asked(old.empty() ? Operation::kCreate : Operation::kUpdate, pod, old);
  return validatePod(asked.request, around).reason;
}

TEST(PodValidating, BestEffortGoesWithLowBands) {  // case 55
  EXPECT_EQ(reasonsOf(podOf("BE", 0, "")), "qos-priority-combination");
  EXPECT_EQ(reasonsOf(podOf("BE", 9500, "")), "qos-priority-combination");
  EXPECT_EQ(reasonsOf(podOf("BE", 5000, "")), "");
}

TEST(PodValidating, BoundCpusAreWhole) {  // case 56
  EXPECT_EQ(reasonsOf(podOf("LSR", 9500, R"("cpu":"2")")), "");
  EXPECT_EQ(reasonsOf(podOf("LSR", 9500, R"("cpu":"1500m")")), "lsr-cpu-not-integer");
  EXPECT_EQ(reasonsOf(podOf("LSR", 9500, "")), "lsr-needs-cpu");
  EXPECT_EQ(reasonsOf(podOf("LSR", 9500, R"("cpu":"500m")",
                            R"(,{"name":"d","resources":{"requests":{"cpu":"1500m"}}})")),
            "");
}

TEST(PodValidating, BoundCpusAreNeitherLentNorExceeded) {
  const auto withLimit = [](std::string_view limit) {
    return R"({"metadata":{"labels":{"koordinator.sh/qosClass":"LSE"}},"spec":{"priority":9500,)"
           R"("containers":[{"name":"c","resources":{"requests":{"cpu":"2"},"limits":{"cpu":")" +
           std::string(limit) + R"("}}}]}})";
  };
  EXPECT_EQ(reasonsOf(withLimit("2")), "");
  EXPECT_EQ(reasonsOf(withLimit("2000m")), "");
  EXPECT_EQ(reasonsOf(withLimit("4")), "lsr-cpu-limit-differs");
}

TEST(PodValidating, BatchResourcesNeedBestEffort) {  // case 57
  const std::string_view batch = R"("kubernetes.io/batch-cpu":"1000")";
  EXPECT_EQ(reasonsOf(podOf("LS", 5000, batch)), "batch-resources-need-be");
  EXPECT_EQ(reasonsOf(podOf("", 5000, batch)), "batch-resources-need-be");
  EXPECT_EQ(reasonsOf(podOf("BE", 5000, batch)), "");
}

TEST(PodValidating, ClassesStay) {  // case 58
  EXPECT_EQ(reasonsOf(podOf("LS", 9500, ""), podOf("", 9500, "")), "immutable-qos-class");
  const std::string_view with =
      R"({"metadata":{"labels":{"koordinator.sh/priority":"7"}},"spec":{"containers":[]}})";
  const std::string_view without = R"({"metadata":{},"spec":{"containers":[]}})";
  EXPECT_EQ(reasonsOf(without, with), "immutable-sub-priority");
  auto around = clusterWith();
  around.gates.skipValidatingPriority = true;
  EXPECT_EQ(reasonsOf(without, with, around), "");
}

TEST(PodValidating, GpuRequestsMakeSense) {  // case 59
  auto around = clusterWith();
  around.gates.validateDeviceResource = true;
  struct Case {
    std::string_view requests, reasons;
  } cases[] = {
      {R"("koordinator.sh/gpu.shared":"2","koordinator.sh/gpu-core":"101","koordinator.sh/gpu-memory-ratio":"100")",
       "gpu-core-not-multiple-of-shared"},
      {R"("koordinator.sh/gpu.shared":"1","koordinator.sh/gpu-memory":"1Gi","koordinator.sh/gpu-memory-ratio":"50")",
       "gpu-memory-and-ratio"},
      {R"("koordinator.sh/gpu.shared":"1")", "gpu-memory-missing"},
      {R"("koordinator.sh/gpu.shared":"1","huawei.com/npu-core":"5")", ""},
      {R"("koordinator.sh/gpu":"150")", "gpu-not-multiple-of-100"},
      {R"("koordinator.sh/gpu":"50")", ""},
  };
  for (const Case& c : cases) EXPECT_EQ(reasonsOf(podOf("", 0, c.requests), "", around), c.reasons);
  EXPECT_EQ(reasonsOf(podOf("", 0, cases[0].requests)), "") << "the gate is off";
}

TEST(PodValidating, StrictMatrixKeepsTheHighestClassesForProd) {  // C9
  auto around = clusterWith();
  around.gates.strictQosMatrix = true;
  EXPECT_EQ(reasonsOf(podOf("SYSTEM", 5000, ""), "", around), "qos-priority-combination");
  EXPECT_EQ(reasonsOf(podOf("SYSTEM", 5000, "")), "");
}

TEST(PodValidating, PodsBelongIntoLeavesOfTheQuotaTree) {
  auto around = clusterWith();
  Quota parent;
  parent.ns = parent.name = "default";
  parent.isParent = true;
  around.quotas = std::make_shared<const QuotaTree>(std::vector<Quota>{parent});
  EXPECT_EQ(reasonsOf(podOf("", 0, ""), "", around), "parent-quota");
  around.gates.disableDefaultQuota = true;
  EXPECT_EQ(reasonsOf(podOf("", 0, ""), "", around), "");
}

TEST(PodValidating, RequiresLabelsWhereARuleSaysSo) {
  auto around = clusterWith();
  around.gates.enhancedValidator = true;
  around.enhancedRules = std::make_shared<const std::vector<EnhancedRule>>(
      std::vector<EnhancedRule>{{"owner", {"team"}, {"kube-system"}}});
  EXPECT_EQ(reasonsOf(podOf("", 0, ""), "", around), "required-label");
  Asked spared(Operation::kCreate, podOf("", 0, ""));
  spared.request.ns = "kube-system";
  EXPECT_TRUE(validatePod(spared.request, around).allowed);
}

TEST(Binding, OnlyTheTrustedBindWhereItIsChecked) {
  auto around = clusterWith();
  around.gates.bindingAdmission = true;
  auto rules = std::make_shared<BindingRules>();
  rules->allowedUsers = {"koord-scheduler"};
  rules->namespaces = {"*"};
  around.binding = rules;
  api::Pod pod;
  around.findPod = [&](std::string_view, std::string_view) {
    return std::make_shared<const api::Pod>(pod);
  };
  const auto allowed = [&](std::string_view user, std::string_view ns, bool dryRun = false) {
    Asked asked(Operation::kCreate, "{}");
    asked.request.subresource = "binding";
    asked.request.user = user;
    asked.request.ns = ns;
    asked.request.dryRun = dryRun;
    return validateBinding(asked.request, around).allowed;
  };
  EXPECT_TRUE(allowed("system:serviceaccount:x:koord-scheduler", "default"));
  EXPECT_FALSE(allowed("mallory", "default"));
  EXPECT_TRUE(allowed("mallory", "kube-system"));
  EXPECT_TRUE(allowed("mallory", "default", true));
  pod.meta.labels.set("koordinator.sh/binding-admission-bypass", "");
  EXPECT_TRUE(allowed("mallory", "default"));
}

}  // namespace
}  // namespace mangrove::manager
