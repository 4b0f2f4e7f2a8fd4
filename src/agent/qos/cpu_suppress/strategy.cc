#include "agent/qos/cpu_suppress/strategy.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "agent/executor/owners.h"
#include "agent/qos/cpu_suppress/quota.h"
#include "api/annotations/cpu.h"
#include "kernel/control_files.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

constexpr std::string_view kQuotaFile = kernel::resource_name::kCpuQuota;
constexpr std::string_view kCpusFile = kernel::resource_name::kCpuset;
using kernel::CpuQuota;

std::string groupOf(const Situation& now) {
  return now.look.machine->layout().tierDir(kernel::PodTier::kBestEffort);
}

bool isBelow(const PodLook& pod) {
  return pod.tier == kernel::PodTier::kBestEffort;
}

CpuQuota quotaNow(const Situation& now) {
  const auto value = now.present.present(groupOf(now), kQuotaFile);
  return value ? value->quota() : CpuQuota::none();
}

int64_t wholeCores(const Situation& now) {
  return now.node->status.capacity.amount("cpu").value();
}

// Of best-effort work as a whole: nobody else limits it.
void wantQuota(const Situation& now, CpuQuota quota, const std::string& why, Wishes& out) {
  out.base(groupOf(now), kQuotaFile, FileValue::of(quota), why);
  out.values.back().ours = true;
}

void freeQuota(const Situation& now, const std::string& why, Wishes& out) {
  wantQuota(now, CpuQuota::none(), why, out);
}

std::string sums(const SuppressInputs& in, MilliCpu budget) {
  return fmt::format("{}m = {} % of {}m - services {:.3f} - system max({:.3f}, reserved {}m)",
                     budget.v, in.thresholdPercent, in.capacity.v,
                     in.servicePodsUsed + in.serviceAppsUsed,
                     in.nodeUsed - in.podsUsed - in.appsUsed, in.reserved.v);
}

// The scheduler placed this pod; the cpuset hook looks after it.
bool isPlaced(const PodLook& pod) {
  return pod.pod && saidBy(pod)->isPlaced();
}

}  // namespace

StrategyInfo CpuSuppress::info() const {
  return {.name = owner::kCpuSuppress, .gate = "BECPUSuppress", .ofTheGroup = true};
}

Wishes CpuSuppress::decide(const Situation& now) {
  const auto* slo = now.look.slo ? &now.look.slo->resourceUsedThresholdWithBe : nullptr;
  if (!slo || !*slo || !(*slo)->enable) return Wishes::holding("no threshold in the NodeSLO");
  Wishes out = weigh(now, **slo);
  if (!out.hold) decided_ = out.values;
  return out;
}

Wishes CpuSuppress::weigh(const Situation& now, const api::ResourceThresholdStrategy& slo) {
  Wishes out;
  const CpuSet before = std::exchange(last_, CpuSet());
  if (now.gates.on("BECPUManager")) {
    freeQuota(now, "BECPUManager places best-effort pods", out);
    recoverForCpuManager(now, out);
    return out;
  }
  const bool isStatic = kubeletIsStatic(now.topology);
  if (!*slo.enable) {
    freeQuota(now, "suppression is off", out);
    recover(now, true, "suppression is off", out);
    return out;
  }
  const auto in = suppressInputs(now, slo);
  if (!in) {
    last_ = before;
    return blind(now, slo);
  }
  sighted_ = now.look.at;
  if (slo.cpuSuppressPolicy == "cfsQuota") {
    byQuota(now, *in, out);
    recover(now, !isStatic, "the quota limits best-effort work", out);
    return out;
  }
  last_ = before;
  freeQuota(now, "the cpuset limits best-effort work", out);
  byCpuset(now, *in, out);
  return out;
}

namespace {

const Wish* findCpus(const Wishes& in, std::string_view cgroup) {
  for (const Wish& wish : in.values)
    if (wish.resource == kCpusFile && wish.cgroup == cgroup) return &wish;
  return nullptr;
}

// Pods that came since the decision get what their group has.
void addNewcomers(const Situation& now, Wishes& out) {
  const Wish* group = findCpus(out, groupOf(now));
  if (group == nullptr) return;
  const Wish like = *group;
  const auto add = [&](std::string_view cgroup) {
    if (findCpus(out, cgroup) == nullptr)
      out.base(std::string(cgroup), kCpusFile, like.part.value, like.why);
  };
  for (const PodLook& pod : now.look.pods) {
    if (!isBelow(pod)) continue;
    add(pod.cgroup);
    for (const ContainerLook& container : pod.containers) add(container.cgroup);
  }
}

// Nothing was ever decided: what the machine has, less CPUs that pods have to themselves.
Wishes withoutExclusive(const Situation& now) {
  const std::string group = groupOf(now);
  const CpuSet may = recoverCpus(suppressCandidates(now));
  const auto present = now.present.present(group, kCpusFile);
  if (!present || may.empty() || present->cpus.isSubsetOf(may))
    return Wishes::holding("usage or pods are not known");
  Wishes out;
  const CpuSet both = present->cpus & may;
  const std::string why = "somebody has CPUs to himself; usage is not known";
  out.base(group, kCpusFile, FileValue::of(both.empty() ? may : both), why);
  if (const auto quota = now.present.present(group, kQuotaFile))
    wantQuota(now, quota->quota(), why, out);
  addNewcomers(now, out);
  return out;
}

}  // namespace

// What was decided last; but CPUs that became somebody's own are left at once, for that needs no
// measurement.
Wishes CpuSuppress::held(const Situation& now) const {
  if (decided_.empty()) return withoutExclusive(now);
  Wishes out;
  out.note = "usage or pods are not known: as before, without CPUs that others have to themselves";
  out.values = decided_;
  const CpuSet may = recoverCpus(suppressCandidates(now));
  for (Wish& wish : out.values) {
    if (wish.resource != kCpusFile || may.empty()) continue;
    const CpuSet both = wish.part.value.cpus & may;
    wish.part.value.cpus = both.empty() ? may : both;
  }
  addNewcomers(now, out);
  return out;
}

// Holds at first, then falls back to a limit that is safe without knowing anything.
Wishes CpuSuppress::blind(const Situation& now, const api::ResourceThresholdStrategy& slo) {
  if (sighted_ == MonoTime::min()) sighted_ = now.look.at;
  if (now.look.node.usage.cpu) sighted_ = now.look.at;  // only pods are missing
  Wishes out = held(now);
  if (!now.node || now.look.at - sighted_ < kBlind) return out;
  out.hold = false;
  out.blind = true;
  const CpuQuota safe =
      safeQuota(now.node->status.capacity.cpu(), slo.cpuSuppressMinPercent.value_or(Percent{0}));
  std::erase_if(out.values, [](const Wish& wish) { return wish.resource == kQuotaFile; });
  wantQuota(now, std::min(quotaNow(now), safe),
            "nothing was measured for 10 s: the conservative limit", out);
  return out;
}

void CpuSuppress::byQuota(const Situation& now, const SuppressInputs& in, Wishes& out) {
  const MilliCpu budget = suppressBudget(in);
  const CpuQuota quota = pace_.quota(now.look.at, budget, wholeCores(now), quotaNow(now));
  wantQuota(now, quota, sums(in, budget), out);
}

CpuSet CpuSuppress::presentCpus(const Situation& now) const {
  if (!last_.empty()) return last_;
  const auto value = now.present.present(groupOf(now), kCpusFile);
  return value ? value->cpus : CpuSet();
}

namespace {

constexpr Duration kHintsEvery = std::chrono::seconds(10);

NodeShares batchMemory(const Situation& now) {
  const Machine& machine = *now.look.machine;
  const auto path = kernel::filePath(
      machine.trees(), *kernel::findResource(kernel::resource_name::kMemoryNumaStat), groupOf(now));
  const auto text = path && machine.numaNodes().size() > 1 ? now.present.text(*path) : std::nullopt;
  if (!text) return {};
  const auto stat = kernel::parseNumaStat(*text, machine.trees().version(), machine.pageSize());
  return stat ? memoryShares(*stat) : NodeShares{};
}

}  // namespace

// Where memory and interrupts are changes slowly: looked at now and then.
const CpuHints& CpuSuppress::hints(const Situation& now, const CpuSet& present) {
  if (hintsAt_ != MonoTime::min() && now.look.at - hintsAt_ < kHintsEvery) return hints_;
  hintsAt_ = now.look.at;
  hints_.memory = steadyShares(hints_.memory, batchMemory(now));
  const auto& ticks = now.look.node.interrupts;
  if (ticks == interrupts_) return hints_;  // the collector has not looked again
  hints_.loud = loudCpus(hints_.loud, interruptShares(interrupts_, ticks), present);
  interrupts_ = ticks;
  return hints_;
}

void CpuSuppress::byCpuset(const Situation& now, const SuppressInputs& in, Wishes& out) {
  SuppressCpus candidates = suppressCandidates(now);
  candidates.budget = suppressBudget(in);
  candidates.present = presentCpus(now);
  candidates.budget = pace_.cpus(now.look.at, candidates.budget, candidates.present.size(),
                                 candidates.machine.size());
  candidates.hints = hints(now, candidates.present);
  const CpuSet cpus = suppressCpus(candidates);
  const std::string why = sums(in, suppressBudget(in));
  if (cpus.empty()) {
    // Every CPU belongs to somebody else: a core's worth of time is left.
    out.values.front().part = Part::base(FileValue::of(CpuQuota::ofUs(kernel::kCfsPeriodUs)));
    out.values.front().why = "no CPU is free for best-effort work";
    return;
  }
  last_ = cpus;
  const CpuSet outer = kubeletIsStatic(now.topology) ? recoverCpus(candidates) : cpus;
  out.base(groupOf(now), kCpusFile, FileValue::of(outer), why);
  for (const PodLook& pod : now.look.pods) {
    if (!isBelow(pod)) continue;
    out.base(std::string(pod.cgroup), kCpusFile, FileValue::of(outer), why);
    for (const ContainerLook& container : pod.containers)
      out.base(std::string(container.cgroup), kCpusFile, FileValue::of(cpus), why);
  }
}

void CpuSuppress::recover(const Situation& now, bool containers, const std::string& why,
                          Wishes& out) const {
  const CpuSet all = recoverCpus(suppressCandidates(now));
  if (all.empty()) return;
  out.base(groupOf(now), kCpusFile, FileValue::of(all), why);
  for (const PodLook& pod : now.look.pods) {
    if (!isBelow(pod)) continue;
    out.base(std::string(pod.cgroup), kCpusFile, FileValue::of(all), why);
    if (!containers) continue;
    for (const ContainerLook& container : pod.containers)
      out.base(std::string(container.cgroup), kCpusFile, FileValue::of(all), why);
  }
}

void CpuSuppress::recoverForCpuManager(const Situation& now, Wishes& out) const {
  const std::string why = "BECPUManager places best-effort pods";
  recover(now, false, why, out);
  const CpuSet all = recoverCpus(suppressCandidates(now));
  for (const PodLook& pod : now.look.pods) {
    if (!isBelow(pod) || isPlaced(pod) || all.empty()) continue;
    for (const ContainerLook& container : pod.containers)
      out.base(std::string(container.cgroup), kCpusFile, FileValue::of(all), why);
  }
}

}  // namespace mangrove::agent
