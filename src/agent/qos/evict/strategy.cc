#include "agent/qos/evict/strategy.h"

#include <fmt/format.h>

#include "agent/qos/evict/least_loss.h"
#include "agent/qos/evict/windows.h"
#include "kernel/cgroup_stat.h"
#include "kernel/control_files.h"
#include "kernel/resource_names.h"
#include "stakes/stake.h"

namespace mangrove::agent {
namespace {

std::optional<BeHistory> beHistory(const Situation& now, Duration window) {
  const auto mean = beAverage(*now.look.history, now.look.at, window);
  const BestEffortLook& last = now.look.node.bestEffort;
  if (!mean || !last.usage || !last.limit) return std::nullopt;
  return BeHistory{mean->count, mean->mean, {*last.usage, last.request, *last.limit}};
}

// Since the pod's cgroup was made.
std::optional<double> cpuSecondsOf(const Situation& now, const api::Pod& pod) {
  const auto look = std::find_if(now.look.pods.begin(), now.look.pods.end(),
                                 [&](const PodLook& one) { return one.pod.get() == &pod; });
  const auto* counter = kernel::findResource(kernel::resource_name::kCpuUsage);
  if (look == now.look.pods.end() || counter == nullptr) return std::nullopt;
  const kernel::Hierarchies& trees = now.look.machine->trees();
  const auto path = kernel::filePath(trees, *counter, look->cgroup);
  const auto text = path ? now.present.text(*path) : std::nullopt;
  if (!text) return std::nullopt;
  const auto used = kernel::parseCpuUsage(*text, trees.version());
  if (!used) return std::nullopt;
  return std::chrono::duration<double>(*used).count();
}

}  // namespace

LossView lossView(const Situation& now, const EvictedLately& lately) {
  return {.now = now.look.wall,
          .cpuSeconds = [&now](const api::Pod& pod) { return cpuSecondsOf(now, pod); },
          .tally = &lately.tally()};
}

void EvictedLately::forget(MonoTime now) {
  for (auto* some : {&at_, &refused_})
    std::erase_if(*some, [&](const auto& one) { return now - one.second > kRemember; });
}

void EvictedLately::refuse(std::string_view uid, MonoTime at) {
  remove(uid);
  refused_[std::string(uid)] = at;
}

void EvictedLately::remove(std::string_view uid) {
  if (auto found = at_.find(uid); found != at_.end()) at_.erase(found);
}

std::vector<EvictPod> Evictor::candidates(const Situation& now) const {
  std::map<const api::Pod*, const Usage*> usages;
  for (const PodLook& look : now.look.pods)
    if (look.pod) usages[look.pod.get()] = &look.usage;
  std::vector<EvictPod> out;
  now.look.book->each([&](const PodPtr& pod) {
    EvictPod one{pod.get(), {}, {}, false};
    if (auto found = usages.find(pod.get()); found != usages.end())
      one.usedCores = found->second->cpu, one.memory = found->second->memory;
    one.leaving = pod->meta.isDeleting() || lately_->has(pod->meta.uid.str());
    // What has ended uses nothing; what may not go is nobody to count on.
    const bool counts = isActivePhase(*pod) && !lately_->wasRefused(pod->meta.uid.str());
    if (!api::isMirror(*pod) && counts) out.push_back(one);
  });
  return out;
}

Wishes Evictor::decide(const Situation& now) {
  const auto* slo = now.look.slo ? &now.look.slo->resourceUsedThresholdWithBe : nullptr;
  Wishes out;
  if (!slo || !*slo || !(*slo)->enable.value_or(false) || !now.node || !isOn(now.gates)) return out;
  lately_->forget(now.look.at);
  wall_ = now.look.wall;
  if (coolUntil_ == MonoTime::min())
    coolUntil_ = options_.coolAtStart ? now.look.at + options_.coolDown : now.look.at;
  const std::vector<EvictPod> pods = candidates(now);
  EvictInputs in{**slo, *now.node, pods, now.look.node.usage.memory.value_or(Bytes{0}), 0};
  in.cpuUsedAvg = cpuAverage(*now.look.history, now.look.at, evictWindow(**slo, options_.interval));
  std::vector<EvictTask> wanted = tasks(now, in);
  for (EvictTask& task : wanted) task.pods = pods;
  run(wanted, now, out);
  return out;
}

void Evictor::run(const std::vector<EvictTask>& tasks, const Situation& now, Wishes& out) {
  for (const EvictTask& task : tasks) {
    if (!task.valid) out.note += fmt::format("{}: thresholds make no sense; ", task.feature);
    out.trouble |= task.valid && !task.release.empty();
  }
  if (now.look.at < coolUntil_) {
    out.note += "cooling down";
    return;
  }
  const bool byLoss = now.gates.on(kLeastLoss);
  const std::vector<Victim> victims =
      byLoss ? leastLossVictims(tasks, lossView(now, *lately_)) : pickVictims(tasks);
  for (const Victim& victim : victims) {
    const EvictAmounts frees = victim.task->frees(*victim.pod);
    out.evictions.push_back({now.look.book->find(victim.pod->pod->meta.uid.str()),
                             victim.task->feature,
                             fmt::format("trigger by koordlet feature {}{}{}", victim.task->feature,
                                         victim.loss.empty() ? "" : "; ", victim.loss),
                             frees.empty() ? 0 : frees.begin()->second});
  }
}

void Evictor::sent(const Ousting& one, MonoTime at) {
  lately_->add(one.pod->meta.uid.str(), at);
  lately_->tally().add(stakes::jobOf(*one.pod), wall_);
  coolUntil_ = at + options_.coolDown;
}

MemoryEvictor::MemoryEvictor(std::shared_ptr<EvictedLately> lately, EvictorOptions options)
    : Evictor(std::move(lately), options) {}

bool MemoryEvictor::isOn(const FeatureGates& gates) const {
  return gates.on(feature::kBeMemory) || gates.on(feature::kMemoryAllocatable) ||
         gates.on(feature::kMemory);
}

std::vector<EvictTask> MemoryEvictor::tasks(const Situation& now, const EvictInputs& in) const {
  std::vector<EvictTask> out;
  const bool measured = now.look.node.usage.memory.has_value();
  if (now.gates.on(feature::kBeMemory) && measured) out.push_back(beMemoryTask(in));
  if (now.gates.on(feature::kMemoryAllocatable)) out.push_back(allocatableTask(in, "memory"));
  if (now.gates.on(feature::kMemory) && measured) out.push_back(memoryTask(in));
  return out;
}

CpuEvictor::CpuEvictor(std::shared_ptr<EvictedLately> lately, EvictorOptions options)
    : Evictor(std::move(lately), options) {}

bool CpuEvictor::isOn(const FeatureGates& gates) const {
  return gates.on(feature::kBeCpu) || gates.on(feature::kCpuAllocatable) || gates.on(feature::kCpu);
}

std::vector<EvictTask> CpuEvictor::tasks(const Situation& now, const EvictInputs& in) const {
  std::vector<EvictTask> out;
  const Duration window = evictWindow(in.slo, options_.interval);
  if (now.gates.on(feature::kBeCpu))
    out.push_back(beCpuTask(in, beHistory(now, window), options_.interval));
  if (now.gates.on(feature::kCpuAllocatable)) out.push_back(allocatableTask(in, "cpu"));
  if (now.gates.on(feature::kCpu)) out.push_back(cpuTask(in));
  return out;
}

}  // namespace mangrove::agent
