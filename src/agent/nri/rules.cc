#include "agent/nri/rules.h"

#include <cmath>

#include <fmt/format.h>

#include "agent/hooks/reconcile.h"
#include "agent/qos/resctrl/classes.h"
#include "api/wire/names.h"
#include "kernel/cpu_units.h"

namespace mangrove::agent {
namespace {

void addBatch(const HookRules& rules, const NriPod& pod, const NriContainer& container,
              NriResources& out) {
  if (!rules.batch || api::rawQos(pod.labels) != api::Qos::kBe) return;
  auto spec = api::parseExtendedResourceSpec(pod.annotations);
  if (!spec || !*spec) return;
  const BatchValues values = batchValues(**spec, *rules.batch);
  const auto found = values.containers.find(container.name);
  if (found == values.containers.end()) return;
  out.shares = found->second.shares;
  out.quota = found->second.quota.signedUs();
  out.memory = found->second.memory == kUnlimited ? -1 : found->second.memory;
}

void addCpus(const HookRules& rules, const NriPod& pod, NriResources& out) {
  if (!rules.cpuset) return;
  const CpusetPod one{api::rawQos(pod.labels), kubeQosOfParent(pod.cgroupParent), &pod.annotations};
  const auto cpus = containerCpuset(*rules.cpuset, one);
  if (cpus && *cpus) out.cpus = shapedCpus(**cpus, one, rules.cpus).text();
  if (rules.freesQuota && runsWithoutQuota(pod.annotations))
    out.quota = kernel::CpuQuota::none().signedUs();
}

// Quotas of services on faster machines.
void addRatio(const HookRules& rules, const NriPod& pod, const NriContainer& container,
              NriResources& out) {
  const api::Qos qos = api::rawQos(pod.labels);
  if (!rules.ratio || (qos != api::Qos::kLs && qos != api::Qos::kNone)) return;
  const auto said = rules.specQuotas.find(pod.uid + "/" + container.name);
  const auto quota = said == rules.specQuotas.end() ? container.quota : std::optional(said->second);
  if (out.quota || quota.value_or(0) <= 0) return;
  out.quota = static_cast<int64_t>(std::ceil(static_cast<double>(*quota) / *rules.ratio - 1e-6));
}

std::map<std::string, int64_t, std::less<>> specQuotas(const PodBook& book) {
  std::map<std::string, int64_t, std::less<>> out;
  book.each([&](const PodPtr& pod) {
    const auto put = [&](const api::Container& one) {
      out[fmt::format("{}/{}", pod->meta.uid.str(), one.name.view())] =
          kernel::quotaOf(one.limits.cpu()).signedUs();
    };
    for (const api::Container& one : pod->spec->containers) put(one);
    for (const api::Container& one : pod->spec->initContainers) put(one);
  });
  return out;
}

std::set<std::string, std::less<>> groupsThere(const Situation& now) {
  std::set<std::string, std::less<>> out;
  for (const PodLook& pod : now.look.pods) {
    if (!pod.pod || !pod.pod->meta.annotations.has(api::annotation::kResctrl)) continue;
    std::string group = podGroup(pod.pod->meta.uid.str());
    const std::string file =
        kernel::joinPath({now.look.machine->mounts().resctrl, group, "schemata"});
    if (now.present.text(file)) out.insert(std::move(group));
  }
  return out;
}

}  // namespace

HookRules hookRules(const Situation& now, std::string hamiLibrary) {
  HookRules out;
  out.enabled = true;
  if (now.gates.on("CPUSetAllocator") && now.topology)
    if (auto rule = cpusetRule(*now.topology, now.gates.on("BECPUManager")))
      out.cpuset = *std::move(rule);
  out.cpus = {now.look.machine->cpus().online, ownedCpus(now.look)};
  if (now.gates.on("BatchResource") && now.look.slo) out.batch = batchRuleOf(now);
  if (const auto ratio = normalizationRatio(now.node);
      now.gates.on("CPUNormalization") && ratio.value_or(0) > 1) {
    out.ratio = ratio;
    if (now.look.book) out.specQuotas = specQuotas(*now.look.book);
  }
  out.freesQuota = now.gates.on("UnsetCPUQuota");
  out.deviceEnv = now.gates.on("GPUEnvInject");
  out.hami = {std::move(hamiLibrary), now.gates.on("HamiCoreVGPUMonitor")};
  if (now.gates.on("RDMADeviceInject"))
    out.rdma = rdmaNodes(now.look.machine->root(), now.look.machine->mounts());
  if (now.gates.on("Resctrl") && now.look.machine->can().has(kernel::Feature::kResctrl))
    out.resctrlGroups = groupsThere(now);
  return out;
}

NriAdjustment adjustmentFor(const HookRules& rules, const NriPod& pod,
                            const NriContainer& container) {
  NriAdjustment out;
  if (!rules.enabled) return out;
  addBatch(rules, pod, container, out.resources);
  addCpus(rules, pod, out.resources);
  addRatio(rules, pod, container, out.resources);
  if (rules.deviceEnv) {
    out.env = deviceEnv(allocatedGpus(pod.annotations));
    isolateGpu(rules.hami, pod, container.name, out);
  }
  if (rules.rdma) out.devices = rdmaDevices(*rules.rdma, pod.annotations);
  if (const std::string group = podGroup(pod.uid); rules.resctrlGroups.contains(group))
    out.resources.rdtClass = group;
  return out;
}

}  // namespace mangrove::agent
