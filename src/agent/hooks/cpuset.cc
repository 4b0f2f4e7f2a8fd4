#include "agent/hooks/cpuset.h"

#include <algorithm>

#include "api/annotations/cpu.h"
#include "api/annotations/node.h"
#include "api/wire/names.h"

namespace mangrove::agent {
namespace {

std::string joined(const api::CpuSharedPools& pools) {
  std::string out;
  for (const api::CpuSharedPool& pool : pools)
    if (!pool.cpuset.empty()) out += (out.empty() ? "" : ",") + pool.cpuset;
  return out;
}

// In the order of the pod's list; a node without a pool adds nothing.
std::string joined(const api::CpuSharedPools& pools, const api::ResourceStatus& status) {
  std::string out;
  for (const api::NumaNodeResource& node : status.numaNodeResources)
    for (const api::CpuSharedPool& pool : pools)
      if (pool.node == node.node && !pool.cpuset.empty())
        out += (out.empty() ? "" : ",") + pool.cpuset;
  return out;
}

bool isNumaAware(const api::ResourceStatus& status) {
  return std::any_of(status.numaNodeResources.begin(), status.numaNodeResources.end(),
                     [](const api::NumaNodeResource& node) {
                       return node.resources.cpu().v > 0 ||
                              node.resources.amount(api::resource::kBatchCpu).value() > 0;
                     });
}

Result<std::optional<api::ResourceStatus>> statusOf(const CpusetPod& pod) {
  return pod.said ? pod.said->status : api::parseResourceStatus(*pod.annotations);
}

bool hasCpuset(const Result<std::optional<api::ResourceStatus>>& status) {
  return status && *status && !(*status)->cpuset.empty();
}

}  // namespace

Result<CpusetRule> cpusetRule(const api::Annotations& topology, bool beCpuManager) {
  CpusetRule rule;
  auto service = api::parseCpuSharedPools(topology);
  if (!service) return pass(service.error());
  auto batch = api::parseBeCpuSharedPools(topology);
  if (!batch) return pass(batch.error());
  auto policy = api::parseCpuManagerPolicy(topology);
  if (!policy) return pass(policy.error());
  auto system = api::parseSystemQosResource(topology);
  if (!system) return pass(system.error());
  if (*service) rule.servicePools = **std::move(service);
  if (*batch) rule.batchPools = **std::move(batch);
  rule.kubeletIsStatic = *policy && (*policy)->policy == "static";
  if (*system) rule.systemCpus = (*system)->cpuset;
  rule.beCpuManager = beCpuManager;
  return rule;
}

Result<std::optional<std::string>> containerCpuset(const CpusetRule& rule, const CpusetPod& pod) {
  const auto status = statusOf(pod);
  if (!status) return pass(status.error());
  if (*status && !(*status)->cpuset.empty()) return (*status)->cpuset;
  if (*status && isNumaAware(**status)) {
    if (pod.qos != api::Qos::kBe) return joined(rule.servicePools, **status);
    if (rule.beCpuManager) return joined(rule.batchPools, **status);
  }
  if (pod.qos == api::Qos::kSystem && !rule.systemCpus.empty()) return rule.systemCpus;
  if (pod.qos == api::Qos::kLs) return joined(rule.servicePools);
  if (pod.kubeQos == api::KubeQos::kBestEffort) return "";
  if (rule.kubeletIsStatic) return std::nullopt;
  return joined(rule.servicePools);
}

api::KubeQos kubeQosOfParent(std::string_view cgroupParent) {
  if (cgroupParent.find("besteffort") != std::string_view::npos) return api::KubeQos::kBestEffort;
  if (cgroupParent.find("burstable") != std::string_view::npos) return api::KubeQos::kBurstable;
  return api::KubeQos::kGuaranteed;
}

CpuSet shapedCpus(const std::string& wanted, const CpusetPod& pod, const MachineCpus& here) {
  auto cpus = CpuSet::parse(wanted);
  if (!cpus || hasCpuset(statusOf(pod))) return cpus.value_or(CpuSet());
  *cpus = *cpus - here.owned;
  const bool isService = pod.kubeQos != api::KubeQos::kBestEffort;
  if (cpus->empty() && isService && !here.owned.empty()) return here.all - here.owned;
  return *cpus;
}

bool runsWithoutQuota(const PodSaid& pod) {
  return hasCpuset(pod.status);
}

bool runsWithoutQuota(const api::Annotations& pod) {
  return hasCpuset(api::parseResourceStatus(pod));
}

}  // namespace mangrove::agent
