#include "agent/hooks/reconcile.h"

#include <fmt/format.h>

#include "agent/executor/owners.h"
#include "agent/hooks/batch_resource.h"
#include "agent/hooks/cpuset.h"
#include "agent/hooks/group_identity.h"
#include "agent/qos/kernel_floor.h"
#include "api/annotations/cpu.h"
#include "api/annotations/node.h"
#include "api/annotations/yarn.h"
#include "api/pod/pod_requests.h"
#include "base/text/strings.h"
#include "kernel/cpu_units.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

constexpr std::string_view kQuota = kernel::resource_name::kCpuQuota;
constexpr std::string_view kCpus = kernel::resource_name::kCpuset;

bool isKata(const api::Pod& pod) {
  return pod.spec->runtimeClassName.view().find("kata") != std::string_view::npos;
}

bool isLive(const PodLook& pod) {
  return pod.pod && !api::isTerminated(*pod.pod) && !isKata(*pod.pod);
}

api::KubeQos kubeQosOf(kernel::PodTier tier) {
  return tier == kernel::PodTier::kBestEffort  ? api::KubeQos::kBestEffort
         : tier == kernel::PodTier::kBurstable ? api::KubeQos::kBurstable
                                               : api::KubeQos::kGuaranteed;
}

// ---- cpuset ----------------------------------------------------------------------------------

}  // namespace

CpuSet ownedCpus(const Look& look) {
  CpuSet out;
  look.book->each([&](const PodPtr& pod, const PodSaid& said) {
    if (!api::isTerminated(*pod)) out = out | said.ownCpus;
  });
  return out;
}

namespace {

void wantCpus(const PodLook& pod, const CpuSet& cpus, Wishes& out) {
  if (cpus.empty()) return;
  for (const ContainerLook& container : pod.containers)
    out.base(std::string(container.cgroup), kCpus, FileValue::of(cpus),
             fmt::format("CPUs of a {} pod", api::qosName(pod.qos)));
}

void freeQuota(const PodLook& pod, Wishes& out) {
  const std::string why = "the pod has CPUs of its own";
  out.base(std::string(pod.cgroup), kQuota, FileValue::of(kernel::CpuQuota::none()), why);
  for (const ContainerLook& container : pod.containers)
    out.base(std::string(container.cgroup), kQuota, FileValue::of(kernel::CpuQuota::none()), why);
}

// Of host applications only services have CPUs of a pool.
void wantAppCpus(const Look& look, const CpusetRule& rule, const MachineCpus& here, Wishes& out) {
  static const api::Annotations none;
  for (const HostAppLook& app : look.hostApps) {
    if (app.qos != api::Qos::kLs) continue;
    auto cpus = containerCpuset(rule, {api::Qos::kLs, api::KubeQos::kBurstable, &none, nullptr});
    auto set = cpus && *cpus ? CpuSet::parse(**cpus) : Result<CpuSet>(CpuSet());
    if (set) *set = *set - here.owned;
    if (set && !set->empty())
      out.base(app.cgroup, kCpus, FileValue::of(*std::move(set)), "CPUs of an LS application");
  }
}

// ---- batch -----------------------------------------------------------------------------------

void wantBatch(const std::string& cgroup, const BatchValue& value, Wishes& out) {
  const std::string why = "batch resources of the pod";
  out.base(cgroup, kernel::resource_name::kCpuShares, FileValue::of(value.shares), why);
  out.base(cgroup, kQuota, FileValue::of(value.quota), why);
  out.base(cgroup, kernel::resource_name::kMemoryLimit, FileValue::of(value.memory), why);
}

// A NodeManager asks for what it needs itself, and its limits must be the same; YARN's containers run
// inside it, and what they may use is bounded by the capacity (qos/yarn).
bool isBoundByYarn(const api::Pod& pod) {
  if (!api::isNodeManager(pod.meta.labels)) return false;
  const auto capacity = api::parseYarnCapacity(pod.meta.annotations);
  return capacity && *capacity;
}

// ---- normalisation ---------------------------------------------------------------------------

kernel::CpuQuota specQuota(const api::Container& container) {
  return kernel::quotaOf(container.limits.cpu());
}

const api::Container* containerOf(const api::Pod& pod, std::string_view name) {
  for (const api::Container& one : pod.spec->containers)
    if (one.name.view() == name) return &one;
  for (const api::Container& one : pod.spec->initContainers)
    if (one.isSidecar && one.name.view() == name) return &one;
  return nullptr;
}

void wantScaled(const std::string& cgroup, kernel::CpuQuota quota, double ratio, Wishes& out) {
  if (quota.isNone()) return;
  out.base(cgroup, kQuota, FileValue::of(quota), "limit of the pod");
  out.values.push_back(
      {cgroup, kQuota, Part::scale(1 / ratio), fmt::format("normalised by {:.2f}", ratio)});
}

void normalise(const PodLook& pod, double ratio, Wishes& out) {
  kernel::CpuQuota sum = kernel::CpuQuota::ofUs(0);
  for (const api::Container& one : pod.pod->spec->containers) sum = sum + specQuota(one);
  for (const api::Container& one : pod.pod->spec->initContainers)
    if (one.isSidecar) sum = sum + specQuota(one);
  wantScaled(std::string(pod.cgroup), sum, ratio, out);
  for (const ContainerLook& container : pod.containers)
    if (const api::Container* spec = containerOf(*pod.pod, container.name))
      wantScaled(std::string(container.cgroup), specQuota(*spec), ratio, out);
}

}  // namespace

std::optional<double> normalizationRatio(const api::Node* node) {
  if (!node) return std::nullopt;
  auto ratio = api::parseCpuNormalizationRatio(node->meta.annotations);
  return ratio ? *ratio : std::nullopt;
}

BatchRule batchRuleOf(const Situation& now) {
  BatchRule rule;
  const auto& slo = now.look.slo->resourceUsedThresholdWithBe;
  rule.quotaOn = !(slo && slo->enable.value_or(false) && slo->cpuSuppressPolicy == "cfsQuota");
  rule.ratio = normalizationRatio(now.node);
  return rule;
}

StrategyInfo CpusetHook::info() const {
  return {.name = owner::kCpusetHook, .gate = "CPUSetAllocator"};
}

Wishes CpusetHook::decide(const Situation& now) {
  if (!now.topology) return Wishes::holding("no NodeResourceTopology yet");
  auto rule = cpusetRule(*now.topology, now.gates.on("BECPUManager"));
  if (!rule) return Wishes::holding(rule.error().text());
  const MachineCpus here{now.look.machine->cpus().online, ownedCpus(now.look)};
  const bool frees = now.gates.on("UnsetCPUQuota");
  Wishes out;
  for (const PodLook& pod : now.look.pods) {
    if (!isLive(pod)) continue;
    const PodSaidPtr said = saidBy(pod);
    const CpusetPod one{api::rawQos(pod.pod->meta.labels), kubeQosOf(pod.tier),
                        &pod.pod->meta.annotations, said.get()};
    auto cpus = containerCpuset(*rule, one);
    if (!cpus) {
      out.note = cpus.error().text();
      continue;
    }
    if (*cpus) wantCpus(pod, shapedCpus(**cpus, one, here), out);
    if (frees && runsWithoutQuota(*said)) freeQuota(pod, out);
  }
  wantAppCpus(now.look, *rule, here, out);
  return out;
}

StrategyInfo BatchResourceHook::info() const {
  return {.name = owner::kBatchResource, .gate = "BatchResource"};
}

Wishes BatchResourceHook::decide(const Situation& now) {
  if (!now.look.slo) return Wishes::holding("no NodeSLO yet");
  const BatchRule rule = batchRuleOf(now);
  const bool yarn = now.gates.on("YarnNodeManager");
  Wishes out;
  for (const PodLook& pod : now.look.pods) {
    if (!isLive(pod) || api::rawQos(pod.pod->meta.labels) != api::Qos::kBe) continue;
    const auto spec = batchSpecOf(*pod.pod);
    if (!spec) continue;
    BatchValues values = batchValues(*spec, rule);
    if (yarn && isBoundByYarn(*pod.pod)) values = weightsOnly(std::move(values));
    wantBatch(std::string(pod.cgroup), values.pod, out);
    for (const ContainerLook& container : pod.containers) {
      auto found = values.containers.find(std::string(container.name));
      if (found != values.containers.end())
        wantBatch(std::string(container.cgroup), found->second, out);
    }
  }
  return out;
}

namespace {

// Newer kernels of the family have a switch; core scheduling and identities exclude each other.
// False: switched off already, there is nothing to take back.
bool identitySwitch(const Situation& now, const IdentityRule& rule, Wishes& out) {
  const kernel::Mounts& mounts = now.look.machine->mounts();
  const std::string identity = mounts.procFile("sys/kernel/sched_group_identity_enabled");
  const auto present = now.present.text(identity);
  if (!present) return true;
  if (!rule.enabled) return trim(*present) != "0";
  out.base(mounts.procFile("sys/kernel/sched_core"), "switch", FileValue::of(0),
           "group identity takes its place");
  out.base(identity, "switch", FileValue::of(1), "group identity of the NodeSLO");
  return true;
}

// Batch work that should be behind everybody runs in the idle class: pods, not the QoS directory,
// which is the kubelet's, nor pods of a group that is idle as a whole.
void idleInstead(const Situation& now, const IdentityRule& rule, Wishes& out) {
  if (rule.be >= 0 || floorInForce(now) == FloorPlace::kGroup) return;
  if (!now.look.machine->can().has(kernel::Feature::kCpuIdle)) return;
  for (const PodLook& pod : now.look.pods)
    if (isLive(pod) && pod.tier == kernel::PodTier::kBestEffort &&
        api::rawQos(pod.pod->meta.labels) == api::Qos::kBe)
      out.base(std::string(pod.cgroup), kernel::resource_name::kCpuIdle, FileValue::of(1),
               fmt::format("group identity {} without a kernel that has it", rule.be));
}

// Services that should be ahead weigh more than their neighbours in the tree: pods, not the QoS
// directories, whose weights the kubelet writes. A pod that gets no weight keeps what it had.
void weighInstead(const Situation& now, const IdentityRule& rule, Wishes& out) {
  for (const PodLook& pod : now.look.pods) {
    if (!isLive(pod)) continue;
    const auto identity = podIdentity(rule, *pod.pod);
    if (!identity || *identity < 1) continue;
    out.base(std::string(pod.cgroup), kernel::resource_name::kCpuShares,
             FileValue::of(boostedShares(api::podRequests(*pod.pod).cpu(), *identity)),
             fmt::format("group identity {} without a kernel that has it", *identity));
  }
}

Wishes withoutIdentities(const Situation& now) {
  Wishes out;
  out.note = "this kernel has no group identity; the idle class and weights stand in";
  if (!now.look.slo || !now.look.slo->resourceQosStrategy) return out;
  const IdentityRule rule = identityRule(*now.look.slo->resourceQosStrategy);
  if (!rule.enabled) return out;
  idleInstead(now, rule, out);
  weighInstead(now, rule, out);
  return out;
}

void wantIdentity(const PodLook& pod, int64_t value, Wishes& out) {
  constexpr std::string_view kFile = kernel::resource_name::kGroupIdentity;
  const std::string why =
      pod.pod ? "identity of the pod's class" : "identity of the QoS class: no pod is known here";
  out.base(std::string(pod.cgroup), kFile, FileValue::of(value), why);
  for (const ContainerLook& container : pod.containers)
    out.base(std::string(container.cgroup), kFile, FileValue::of(value), why);
}

}  // namespace

StrategyInfo GroupIdentityHook::info() const {
  return {.name = owner::kGroupIdentity, .gate = "GroupIdentity"};
}

Wishes GroupIdentityHook::decide(const Situation& now) {
  constexpr std::string_view kFile = kernel::resource_name::kGroupIdentity;
  if (!now.look.machine->can().has(kernel::Feature::kGroupIdentity)) return withoutIdentities(now);
  if (!now.look.slo || !now.look.slo->resourceQosStrategy) return Wishes::holding("no NodeSLO yet");
  const IdentityRule rule = identityRule(*now.look.slo->resourceQosStrategy);
  const kernel::CgroupLayout& layout = now.look.machine->layout();
  Wishes out;
  if (!identitySwitch(now, rule, out)) return out;
  for (kernel::PodTier tier :
       {kernel::PodTier::kGuaranteed, kernel::PodTier::kBurstable, kernel::PodTier::kBestEffort})
    out.base(layout.tierDir(tier), kFile, FileValue::of(tierIdentity(rule, kubeQosOf(tier))),
             "identity of the QoS class");
  for (const PodLook& pod : now.look.pods) {
    // A directory that no pod is known for runs as its QoS directory says, whoever is in it.
    if (!pod.pod) wantIdentity(pod, tierIdentity(rule, kubeQosOf(pod.tier)), out);
    if (!isLive(pod)) continue;
    if (auto value = podIdentity(rule, *pod.pod)) wantIdentity(pod, *value, out);
  }
  for (const HostAppLook& app : now.look.hostApps)
    out.base(app.cgroup, kFile, FileValue::of(identityOf(rule, app.qos, api::KubeQos::kBurstable)),
             "identity of the application's class");
  return out;
}

StrategyInfo NormalizationHook::info() const {
  return {.name = owner::kNormalization, .gate = "CPUNormalization"};
}

Wishes NormalizationHook::decide(const Situation& now) {
  const auto ratio = normalizationRatio(now.node);
  Wishes out;
  if (ratio.value_or(0) <= 1) return out;
  const bool frees = now.gates.on("UnsetCPUQuota");
  for (const PodLook& pod : now.look.pods) {
    if (!isLive(pod) || (frees && runsWithoutQuota(*saidBy(pod)))) continue;
    const api::Qos qos = api::rawQos(pod.pod->meta.labels);
    if (qos == api::Qos::kLs || qos == api::Qos::kNone) normalise(pod, *ratio, out);
  }
  return out;
}

}  // namespace mangrove::agent
