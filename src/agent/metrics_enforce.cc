#include "agent/metrics_enforce.h"

#include <algorithm>
#include <array>

#include "agent/collect/usage_rules.h"
#include "agent/executor/core_cookies.h"
#include "agent/executor/owners.h"
#include "agent/qos/core_sched/strategy.h"
#include "base/text/strings.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

constexpr Duration kLifetime = std::chrono::minutes(5);
constexpr Duration kSweepEvery = std::chrono::minutes(1);
constexpr Duration kSlowEvery = std::chrono::seconds(10);
constexpr std::string_view kQuota = kernel::resource_name::kCpuQuota,
                           kPeriod = kernel::resource_name::kCpuPeriod,
                           kBurst = kernel::resource_name::kCpuBurst,
                           kCpus = kernel::resource_name::kCpuset, kScore = "oom_score_adj";
constexpr int64_t kUsualPeriod = 100000;
// Strategies that do what the reference's reconciler of hooks does.
constexpr std::array<std::string_view, 6> kHookOwners = {
    owner::kCpusetHook,    owner::kBatchResource, owner::kGroupIdentity,
    owner::kNormalization, owner::kOomScore,      owner::kPodResctrl};

std::vector<double> milliBounds() {
  std::vector<double> bounds;
  for (double b = 0.01; bounds.size() < 8; b *= 4) bounds.push_back(b);
  return bounds;
}

double milliseconds(Duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

const HeldFile* find(const Executor& executor, std::string_view cgroup, std::string_view resource) {
  const auto it = executor.held().find({std::string(cgroup), resource});
  return it == executor.held().end() || it->second.dryRun ? nullptr : &it->second;
}

// The container that a process is in; nullptr: none of a pod's.
struct Found {
  const PodLook* pod = nullptr;
  const ContainerLook* container = nullptr;
};
Found containerOf(int pid, const Look& look) {
  const ControlReader reader(*look.machine);
  const auto text = reader.text(look.machine->mounts().procFile(std::to_string(pid) + "/cgroup"));
  if (!text) return {};
  for (const PodLook& pod : look.pods)
    for (const ContainerLook& one : pod.containers)
      if (pod.pod && isProcessOf(*text, one.cgroup)) return {&pod, &one};
  return {};
}

// "proc/4711/oom_score_adj" → 4711.
int pidOf(std::string_view path) {
  const size_t end = path.rfind('/');
  if (end == std::string_view::npos) return 0;
  const std::string_view dir = path.substr(0, end);
  return parseInt<int>(dir.substr(dir.rfind('/') + 1)).value_or(0);
}

}  // namespace

std::string_view levelOf(std::string_view cgroup) {
  const auto isPod = [](std::string_view name) {
    return name.starts_with("pod") ||
           (name.starts_with("kubepods") && name.find("-pod") != std::string_view::npos);
  };
  const size_t slash = cgroup.rfind('/');
  if (isPod(cgroup.substr(slash == std::string_view::npos ? 0 : slash + 1))) return "pod";
  if (slash == std::string_view::npos) return "kubeqos";
  const std::string_view above = cgroup.substr(0, slash);
  return isPod(above.substr(above.rfind('/') + 1)) ? "container" : "kubeqos";
}

EnforceMetrics::EnforceMetrics(Registry& internal, std::string node)
    : node_(std::move(node)),
      beCores_(internal.gauges("koordlet_be_suppress_cpu_cores",
                               "CPU that best-effort work is cut to, cores.", {"node", "type"})),
      lsUsed_(internal.gauges("koordlet_be_suppress_ls_used_cpu_cores",
                              "CPU that other pods use, cores.", {"node"})),
      burst_{
          internal.gauges("koordlet_container_scaled_cfs_burst_us", "What a container may save up.",
                          {"node", "pod_namespace", "pod_name", "container_id", "container_name"})},
      quota_{internal.gauges(
          "koordlet_container_scaled_cfs_quota_us", "A container's quota while it bursts.",
          {"node", "pod_namespace", "pod_name", "container_id", "container_name"})},
      score_{internal.gauges("koordlet_container_oom_score_adj", "A container's OOM score.",
                             {"node", "pod_name", "pod_namespace", "pod_uid", "container_name"})},
      cookie_{internal.gauges("koordlet_container_core_sched_cookie",
                              "A container's cookie of core scheduling.",
                              {"node", "pod_name", "pod_namespace", "pod_uid", "container_name",
                               "container_id", "core_sched_group", "core_sched_cookie"})},
      detail_{internal.counters("koordlet_pod_eviction_detail", "Pods sent away, one by one.",
                                {"node", "pod_namespace", "pod_name", "reason"})},
      managed_{internal.counters("koordlet_core_sched_cookie_manage_status",
                                 "Cookies of core scheduling given or taken.",
                                 {"node", "core_sched_group", "status"})},
      evictions_(internal.counters("koordlet_pod_eviction", "Pods sent away.", {"node", "reason"})),
      updates_(internal.histograms("koordlet_resource_update_duration_milliseconds",
                                   "How long writing a control file took.", {"type", "status"},
                                   milliBounds())),
      hooks_(internal.histograms("koordlet_runtime_hook_invoked_duration_milliseconds",
                                 "How long answering the container runtime took.",
                                 {"node", "hook", "stage", "status"}, milliBounds())),
      reconciles_(
          internal.histograms("koordlet_runtime_hook_reconciler_invoked_duration_milliseconds",
                              "How long setting up what a hook should have took.",
                              {"node", "level", "resource_type", "status"}, milliBounds())) {}

template <class Family>
void EnforceMetrics::Fading<Family>::sweep(MonoTime now) {
  for (auto it = last.begin(); it != last.end();) {
    if (now - it->second <= kLifetime) {
      ++it;
      continue;
    }
    family.removeIf([&](const LabelValues& labels) { return labels == it->first; });
    it = last.erase(it);
  }
}

void EnforceMetrics::tick(const Look& look, const Executor& executor, const AuditLog& audit) {
  suppression(look, executor);
  bursts(look, executor);
  if (slowAt_ == MonoTime::min() || look.at - slowAt_ >= kSlowEvery) {
    slowAt_ = look.at;
    scores(look, executor);
    cookies(look);
    countCookies(audit, look.at);
  }
  if (sweptAt_ == MonoTime::min() || look.at - sweptAt_ >= kSweepEvery) sweep(look.at);
}

void EnforceMetrics::sweep(MonoTime now) {
  sweptAt_ = now;
  for (auto* one : {&burst_, &quota_, &score_, &cookie_}) one->sweep(now);
  for (auto* one : {&detail_, &managed_}) one->sweep(now);
}

void EnforceMetrics::suppression(const Look& look, const Executor& executor) {
  double used = 0;
  for (const PodLook& pod : look.pods)
    if (pod.qos != api::Qos::kBe) used += pod.usage.cpu.value_or(0);
  lsUsed_.with({node_}).set(used);
  const std::string dir = look.machine->layout().tierDir(kernel::PodTier::kBestEffort);
  if (const HeldFile* held = find(executor, dir, kQuota); held && held->wanted.number > 0) {
    const HeldFile* period = find(executor, dir, kPeriod);
    const int64_t length =
        period && period->wanted.number > 0 ? period->wanted.number : kUsualPeriod;
    beCores_.with({node_, "cfsQuota"})
        .set(static_cast<double>(held->wanted.number) / static_cast<double>(length));
  }
  if (const HeldFile* held = find(executor, dir, kCpus))
    beCores_.with({node_, "cpuset"}).set(static_cast<double>(held->wanted.cpus.size()));
}

void EnforceMetrics::bursts(const Look& look, const Executor& executor) {
  for (const PodLook& pod : look.pods) {
    if (!pod.pod) continue;
    for (const ContainerLook& one : pod.containers) {
      const auto set = [&](Fading<GaugeFamily>& gauges, std::string_view resource) {
        const HeldFile* held = find(executor, one.cgroup, resource);
        if (held == nullptr || held->owner != owner::kCpuBurst) return;
        gauges
            .with({node_, pod.pod->meta.ns.str(), pod.pod->meta.name.str(), std::string(one.fullId),
                   std::string(one.name)},
                  look.at)
            .set(static_cast<double>(held->wanted.number));
      };
      set(burst_, kBurst);
      set(quota_, kQuota);
    }
  }
}

void EnforceMetrics::scores(const Look& look, const Executor& executor) {
  for (const auto& [key, held] : executor.held()) {
    if (key.resource != kScore || held.dryRun) continue;
    const Found in = containerOf(pidOf(key.cgroup), look);
    if (in.container == nullptr) continue;
    const api::ObjectMeta& meta = in.pod->pod->meta;
    score_
        .with({node_, meta.name.str(), meta.ns.str(), meta.uid.str(),
               std::string(in.container->name)},
              look.at)
        .set(static_cast<double>(held.wanted.number));
  }
}

// By the processes that have one; only kernels with core scheduling give any.
void EnforceMetrics::cookies(const Look& look) {
  if (!look.machine->can().has(kernel::Feature::kCoreScheduling) || !look.slo ||
      !look.slo->resourceQosStrategy)
    return;
  KernelCookies kernel;
  const ControlReader reader(*look.machine);
  for (const PodLook& pod : look.pods) {
    const auto group = pod.pod ? coreGroup(*look.slo->resourceQosStrategy, *pod.pod)
                               : std::optional<std::string>();
    if (!group || group->empty()) continue;
    for (const ContainerLook& one : pod.containers) {
      const std::vector<int> pids = reader.members(one.cgroup, kernel::resource_name::kProcs);
      const auto cookie = pids.empty() ? Result<uint64_t>(0) : kernel.get(pids.front());
      if (cookie.value_or(0) == 0) continue;
      const api::ObjectMeta& meta = pod.pod->meta;
      cookie_
          .with({node_, meta.name.str(), meta.ns.str(), meta.uid.str(), std::string(one.name),
                 std::string(one.fullId), *group, std::to_string(*cookie)},
                look.at)
          .set(1);
    }
  }
}

void EnforceMetrics::countCookies(const AuditLog& audit, MonoTime now) {
  const uint64_t added = audit.count() - audited_;
  audited_ += added;
  for (const AuditRecord& record : audit.last(0, std::min<uint64_t>(added, AuditLog::kKept))) {
    if (record.file != "cookie") continue;
    managed_.with({node_, record.to, record.outcome == "written" ? "succeeded" : "failed"}, now)
        .inc();
  }
}

void EnforceMetrics::evicted(const Ousting& ousting, MonoTime now) {
  const std::string reason(ousting.feature);
  evictions_.with({node_, reason}).inc();
  detail_.with({node_, ousting.pod->meta.ns.str(), ousting.pod->meta.name.str(), reason}, now)
      .inc();
}

void EnforceMetrics::wrote(const WriteDone& done) {
  updates_.with({std::string(done.key.resource), done.ok ? "success" : "failed"})
      .observe(milliseconds(done.took));
  if (std::find(kHookOwners.begin(), kHookOwners.end(), done.owner) == kHookOwners.end()) return;
  reconciles_
      .with({node_, std::string(levelOf(done.key.cgroup)), std::string(done.key.resource),
             done.ok ? "succeeded" : "failed"})
      .observe(milliseconds(done.took));
}

void EnforceMetrics::hookInvoked(std::string_view hook, std::string_view stage, bool ok,
                                 Duration took) {
  hooks_.with({node_, std::string(hook), std::string(stage), ok ? "succeeded" : "failed"})
      .observe(milliseconds(took));
}

}  // namespace mangrove::agent
