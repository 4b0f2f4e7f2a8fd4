// Pod validating admission: what the reference refuses, and what came on top.
#include "manager/webhook/pod/validate.h"

#include <gmock/gmock.h>
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

TEST(PodValidating, StrictMatrixKeepsTheHighestClassesForProd) {
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
  auto open = around;
  open.gates.supportParentQuotaSubmitPod = true;
  EXPECT_EQ(reasonsOf(podOf("", 0, ""), "", open), "");
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
  auto dry = std::make_shared<BindingRules>(*rules);
  dry->dryRun = true;
  around.binding = dry;
  EXPECT_TRUE(allowed("mallory", "default"));
  around.binding = rules;
  pod.meta.labels.set("koordinator.sh/binding-admission-bypass", "");
  EXPECT_TRUE(allowed("mallory", "default"));
}

// The annotations of Katalyst: what cannot be meant is refused, the rest left alone.
TEST(Katalyst, ValuesOutsideOfTheirRangeRefuseThePod) {
  const auto faults = [](std::string_view level, std::string_view key, std::string_view text) {
    api::Pod pod;
    if (!level.empty()) pod.meta.annotations.set("katalyst.kubewharf.io/qos_level", level);
    pod.meta.annotations.set("katalyst.kubewharf.io/" + std::string(key), text);
    std::string out;
    for (const auto& fault : katalystFaults(pod)) out += fault.message + "\n";
    return out;
  };
  struct Case {
    const char *level, *key, *text, *refusal;  // "" : admitted
  };
  const Case cases[] = {
      {"reclaimed_cores", "memory_enhancement", R"({"oom_priority":"-100"})", ""},
      {"reclaimed_cores", "memory_enhancement", R"({"oom_priority":"0"})", "want -100 to -1"},
      {"", "memory_enhancement", R"({"oom_priority":"0"})", ""},
      {"", "memory_enhancement", R"({"oom_priority":"100"})", "want 0 to 99 for shared_cores"},
      {"dedicated_cores", "memory_enhancement", R"({"oom_priority":"199"})", ""},
      {"system_cores", "memory_enhancement", R"({"oom_priority":"299"})", ""},
      {"system_cores", "memory_enhancement", R"({"oom_priority":"300"})", ""},
      {"reclaimed_cores", "memory_enhancement", R"({"oom_priority":"-300"})", ""},
      {"", "memory_enhancement", R"({"oom_priority":"high"})", "oom_priority 'high'"},
      {"", "memory_enhancement", R"({"rss_overuse_threshold":"0"})", "want a number above 0"},
      {"", "memory_enhancement", R"({"numa_binding":true})", "want a text"},
      {"", "memory_enhancement", R"({"made_up":"x"})", ""},
      {"", "memory_enhancement", "{", "want a JSON object"},
      {"", "cpu_enhancement", R"({"cpuset_pool":"batch"})", ""},
      {"reclaimed_cores", "cpu_enhancement", R"({"cpuset_pool":"x"})", "is for shared_cores alone"},
      {"", "cpu_enhancement", R"({"suppression_tolerance_rate":"1.5"})", "reclaimed_cores alone"},
      {"", "cpu_enhancement", R"({"cpu_burst_policy":"fast"})", "one of default, closed"},
      {"", "cpu_enhancement", R"({"cpu_burst_percent":"101"})", "from 0 to 100"},
      {"", "cpu_enhancement", R"({"katalyst.kubewharf.io/numa_ids":"0,x"})", "separated by commas"},
      {"", "network_enhancement", R"({"namespace_type":"host"})", "one of host_ns"},
      {"gold_cores", "network_enhancement", "{}", "'gold_cores': want reclaimed_cores"},
  };
  for (const auto& one : cases) {
    const auto said = faults(one.level, one.key, one.text);
    if (*one.refusal == 0)
      EXPECT_EQ(said, "") << one.text;
    else
      EXPECT_THAT(said, ::testing::HasSubstr(one.refusal)) << one.text;
  }
}

// Classes of a waiting pod change as a profile says that the controller applied, and not
// otherwise.
TEST(PodValidating, TheProfileControllerMayChangeClasses) {
  const Surroundings around = clusterWith(
      {R"({"metadata":{"name":"batch"},"spec":{"selector":{"matchLabels":{"app":"x"}},"qosClass":"BE","koordinatorPriority":7}})",
       R"({"metadata":{"name":"other"},"spec":{"selector":{"matchLabels":{"app":"y"}},"qosClass":"BE"}})"});
  const auto pod = [](std::string_view labels, std::string_view note, std::string_view more = "") {
    return R"({"metadata":{"name":"p","labels":{"app":"x")" + std::string(labels) +
           R"(},"annotations":{)" + std::string(note) + R"(}},"spec":{"priority":5000,)" +
           std::string(more) + R"("containers":[{"name":"c"}]}})";
  };
  constexpr std::string_view kBatchLabels =
      R"(,"koordinator.sh/qosClass":"BE","koordinator.sh/priority":"7")";
  constexpr std::string_view kNote = R"("mangrove.io/applied-profiles":"{\"batch\":\"1\"}")";
  constexpr std::string_view kOther = R"("mangrove.io/applied-profiles":"{\"other\":\"1\"}")";
  constexpr std::string_view kBound = R"("nodeName":"n1",)";
  EXPECT_EQ(reasonsOf(pod(kBatchLabels, kNote), pod("", ""), around), "");
  const std::string refused = "immutable-qos-class,immutable-sub-priority";
  EXPECT_EQ(reasonsOf(pod(kBatchLabels, ""), pod("", ""), around), refused) << "nobody noted it";
  EXPECT_EQ(reasonsOf(pod(kBatchLabels, kOther), pod("", ""), around), refused) << "not its pod";
  EXPECT_EQ(reasonsOf(pod(kBatchLabels, kNote), pod("", kNote), around), refused) << "long ago";
  EXPECT_EQ(reasonsOf(pod(kBatchLabels, kNote, kBound), pod("", "", kBound), around), refused)
      << "it runs already";
  EXPECT_EQ(reasonsOf(pod(R"(,"koordinator.sh/qosClass":"LS")", kNote), pod("", ""), around),
            "immutable-qos-class")
      << "not what the profile says";
}

}  // namespace
}  // namespace mangrove::manager
