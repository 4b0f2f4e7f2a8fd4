#include "scheduler/core/engine.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/annotations/scheduling.h"
#include "base/log.h"
#include "scheduler/plugins/absent.h"
#include "scheduler/plugins/registry.h"

namespace mangrove::scheduler {

namespace {

const Logger log("scheduler");

double secondsOf(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

Engine::Engine(Clock& clock, Effects& effects, Registry& registry)
    : clock_(clock), effects_(effects), metrics_(registry) {}

Engine::~Engine() = default;

Result<> Engine::configure(const SchedulerConfig& config) {
  config_ = config;
  for (const ProfileConfig& wanted : config.profiles) {
    auto profile = Profile::make(wanted, pluginEntries(), {cluster_, clock_});
    if (!profile) return profile.error().in("profile {}", wanted.schedulerName);
    for (const auto& name : (*profile)->config().absent)
      log.warn("profile {}: plugin {} is not part of this version; pods that need it stay pending",
               wanted.schedulerName, name);
    profiles_.push_back(std::move(*profile));
  }
  const auto pluginOf = [this](const std::string& name, const PodInfo& pod) -> Plugin* {
    Profile* profile = profileOf(*pod.pod);
    return profile ? profile->find(name) : nullptr;
  };
  QueueRules rules;
  rules.admit = [this](const PodInfo& pod) -> std::string {
    Profile* profile = profileOf(*pod.pod);
    if (evicting_.contains(pod.pod->meta.uid)) return "DefaultPreemption";
    if (profile)
      for (Plugin* plugin : profile->preEnqueue())
        if (!plugin->admit(*pod.pod).go()) return std::string(plugin->name());
    return "";
  };
  rules.hint = [pluginOf](const std::string& name, const ClusterEvent& event, const PodInfo& pod) {
    Plugin* plugin = pluginOf(name, pod);
    return plugin ? plugin->hint(event, pod) : Hint::kSkip;
  };
  rules.interests = [this](const std::string& name) {
    uint32_t all = 0;
    for (const auto& profile : profiles_)
      if (Plugin* plugin = profile->find(name)) all |= plugin->interests();
    return all;
  };
  QueueOptions options;
  options.initialBackoff = config.podInitialBackoff;
  options.maxBackoff = config.podMaxBackoff;
  queue_ = std::make_unique<Queue>(clock_, options, std::move(rules));
  return {};
}

Profile* Engine::profileOf(const api::Pod& pod) const {
  std::string_view name = api::schedulerNameOf(pod.meta.labels, pod.spec->schedulerName.view());
  if (name.empty()) name = "default-scheduler";
  for (const auto& profile : profiles_)
    if (profile->config().schedulerName == name) return profile.get();
  return nullptr;
}

bool Engine::scheduleOne() {
  QueuedPod* queued = queue_->pop();
  if (!queued) return false;
  const PodPtr pod = queued->pod;
  const api::Uid& uid = pod->pod->meta.uid;
  Profile* profile = profileOf(*pod->pod);
  if (!profile || pod->pod->meta.isDeleting() || cluster_.find(uid)) {
    queue_->done(uid);
    return true;
  }
  if (!refusedByAbsence(*queued, *profile)) tryPod(*queued, *profile);
  return true;
}

void Engine::tryPod(QueuedPod& queued, Profile& profile) {
  const PodPtr pod = queued.pod;
  const MonoTime start = clock_.mono();
  CycleOptions options;
  options.percentageOfNodesToScore =
      profile.config().percentageOfNodesToScore.value_or(config_.percentageOfNodesToScore);
  options.rotation = &rotation_[profile.config().schedulerName];
  Cycle cycle(profile, cluster_, pod, options);
  const auto placed = cycle.run();
  metrics_.algorithmDuration.observe(secondsOf(clock_.mono() - start));
  if (!placed) {
    const PodPtr& current = pod;
    if (!cycle.diagnosis().isError && profile.preempts() && cluster_.table.size() > 0)
      cycle.diagnosis().postFilter = preempt(queued, profile, cycle);
    return fail(queued, profile, cycle.diagnosis(), current);
  }
  metrics_.evaluatedNodes.observe(static_cast<double>(placed->evaluated));
  metrics_.feasibleNodes.observe(static_cast<double>(placed->feasible));
  commit(queued, profile, cycle.state(), *placed);
}

bool Engine::refusedByAbsence(QueuedPod& queued, Profile& profile) {
  const auto need = needOfAbsentPlugin(*queued.pod->pod, profile.config().absent);
  if (!need) return false;
  Diagnosis diagnosis;
  diagnosis.nodes = cluster_.table.size();
  diagnosis.preFilter = need->reason;
  diagnosis.plugins = {need->plugin};
  fail(queued, profile, diagnosis, queued.pod);
  return true;
}

// ---- success -----------------------------------------------------------------------------------

void Engine::commit(QueuedPod& queued, Profile& profile, PlanState& state,
                    const Placement& placed) {
  const PodPtr pod = queued.pod;
  cluster_.assume(pod, placed.row);
  const Decision decision{state.plan(), pod, placed.row};
  for (size_t i = 0; i < profile.reserve().size(); i++) {
    auto reserved = profile.reserve()[i]->transactional()->reserve(decision);
    if (reserved) continue;
    undo(decision, profile, i);
    Diagnosis diagnosis;
    diagnosis.nodes = cluster_.table.size();
    diagnosis.preFilter = reserved.error().sentence();
    diagnosis.plugins = {std::string(profile.reserve()[i]->name())};
    return fail(queued, profile, diagnosis, pod);
  }
  sendBinding(queued, profile, state, placed.row);
}

void Engine::undo(const Decision& decision, Profile& profile, size_t reserved) {
  for (size_t i = reserved; i-- > 0;) profile.reserve()[i]->transactional()->unreserve(decision);
  cluster_.forget(decision.pod);
}

void Engine::sendBinding(QueuedPod& queued, Profile& profile, PlanState& state, Row row) {
  const PodPtr pod = queued.pod;
  const Decision decision{state.plan(), pod, row};
  BindNotes notes;
  for (Transactional* plugin : profile.preBind()) {
    auto written = plugin->preBind(decision, notes);
    if (written) continue;
    undo(decision, profile, profile.reserve().size());
    Diagnosis diagnosis;
    diagnosis.isError = true;
    diagnosis.error = written.error().text();
    return fail(queued, profile, diagnosis, pod);
  }
  const api::Uid uid = pod->pod->meta.uid;
  Binding& binding = binding_[uid];
  binding = {pod, &profile, row, queue_->take(uid), clock_.mono(), std::move(notes), false};
  if (binding.notes.volumes.empty()) return send(uid, binding);
  effects_.bindVolumes(binding.notes.volumes, [this, uid](Result<> result) {
    const auto at = binding_.find(uid);
    if (at == binding_.end()) return;
    if (!result) return bindingDone(uid, result);
    at->second.waitsForVolumes = true;
    lookForVolumes();
  });
}

void Engine::send(const api::Uid& uid, Binding& binding) {
  binding.waitsForVolumes = false;
  effects_.bind(*binding.pod, binding.pod->nodeName.view(), binding.notes,
                [this, uid](Result<> result) { bindingDone(uid, result); });
}

// Bindings whose claims are all bound by now go out; those that wait too long fail.
void Engine::lookForVolumes() {
  constexpr auto kLongest = std::chrono::seconds(600);
  std::vector<api::Uid> ready, late;
  for (const auto& [uid, binding] : binding_) {
    if (!binding.waitsForVolumes) continue;
    const auto& volumes = binding.notes.volumes;
    const bool bound = std::all_of(volumes.begin(), volumes.end(), [&](const VolumeNote& note) {
      const auto claim = cluster_.storage.claims.find(note.claim);
      return claim && !claim->volumeName.empty();
    });
    if (bound)
      ready.push_back(uid);
    else if (clock_.mono() - binding.since > kLongest)
      late.push_back(uid);
  }
  for (const auto& uid : ready) send(uid, binding_.at(uid));
  for (const auto& uid : late)
    bindingDone(uid, mangrove::fail(mangrove::Code::kTimeout,
                                    "binding volumes: timed out waiting for the condition"));
}

void Engine::happened(const ClusterEvent& event) {
  if (event.kind == EventKind::kStorage) lookForVolumes();
  queue_->happened(event);
}

void Engine::bindingDone(const api::Uid& uid, const Result<>& result) {
  const auto at = binding_.find(uid);
  if (at == binding_.end()) return;
  Binding binding = std::move(at->second);
  binding_.erase(at);
  progress_();
  const std::string& name = binding.profile->config().schedulerName;
  const api::Pod& pod = *binding.pod->pod;
  PodPlan plan;  // plugins find what they reserved by the pod, whatever became of its plan
  plan.cls = binding.pod->cls;
  const Decision decision{plan, binding.pod, binding.row};
  if (result) {
    for (Transactional* plugin : binding.profile->postBind()) plugin->bound(decision);
    const Duration waited = clock_.mono() - binding.queued->firstQueued;
    metrics_.scheduleAttempts.with({"scheduled", name}).inc();
    metrics_.attemptDuration.with({"scheduled", name})
        .observe(secondsOf(clock_.mono() - binding.since));
    metrics_.podAttempts.observe(binding.queued->attempts);
    metrics_.slidingDuration.with({std::to_string(std::min(binding.queued->attempts, 16))})
        .observe(secondsOf(waited));
    effects_.scheduled(pod, binding.pod->nodeName.view(), name);
    return;
  }
  // Somebody else was faster, or it is gone: the watch will tell which.
  const bool overtaken = result.error().code() == mangrove::Code::kConflict ||
                         result.error().code() == mangrove::Code::kNotFound;
  const std::string said =
      fmt::format("binding {}/{} to {}: {}", pod.meta.ns.view(), pod.meta.name.view(),
                  binding.pod->nodeName.view(), result.error().text());
  overtaken ? log.debug("{}", said) : log.warn("{}", said);
  undo(decision, *binding.profile, binding.profile->reserve().size());
  assignedPodEvent(EventKind::kAssignedPodDelete, nullptr, binding.pod->pod, 0);
  const auto latest = waiting_.find(uid);
  if (latest == waiting_.end() || cluster_.find(uid)) return;  // gone, or bound after all
  binding.queued->pod = cluster_.makeInfo(latest->second);
  PodFailure failure{"SchedulerError", result.error().text(), "", false};
  metrics_.scheduleAttempts.with({"error", name}).inc();
  queue_->giveBack(std::move(binding.queued), {}, {}, true);
  effects_.failed(*latest->second, failure, name);
}

// ---- failure -----------------------------------------------------------------------------------

void Engine::fail(QueuedPod& queued, Profile& profile, const Diagnosis& diagnosis,
                  const PodPtr& pod) {
  const std::string& name = profile.config().schedulerName;
  const api::Uid uid = pod->pod->meta.uid;
  metrics_.scheduleAttempts.with({diagnosis.isError ? "error" : "unschedulable", name}).inc();
  for (const auto& plugin : diagnosis.plugins) metrics_.unschedulableBy.with({plugin, name}).inc();
  PodFailure failure;
  failure.reason = diagnosis.isError ? "SchedulerError" : "Unschedulable";
  failure.message = diagnosis.message();
  failure.nominatedNode = cluster_.nominatedNode(uid).str();
  failure.changesNomination = failure.nominatedNode != pod->pod->status.nominatedNodeName.view();
  const auto latest = waiting_.find(uid);
  const PodObject object = latest == waiting_.end() ? pod->pod : latest->second;
  if (latest != waiting_.end() && latest->second != pod->pod)
    queued.pod = cluster_.makeInfo(latest->second);
  queue_->returned(uid, diagnosis.plugins, diagnosis.waiting, diagnosis.isError);
  effects_.failed(*object, failure, name);
}

std::string Engine::preempt(QueuedPod& queued, Profile& profile, Cycle& cycle) {
  const PodPtr pod = queued.pod;
  const api::Uid uid = pod->pod->meta.uid;
  if (pod->cls->spec->preemptionPolicy == api::PreemptionPolicy::kNever)
    return "preemption: not eligible due to preemptionPolicy=Never.";
  const Interned nominated = cluster_.nominatedNode(uid);
  if (!nominated.empty() && hasTerminatingVictim(nominated, pod->cls->priority))
    return "preemption: not eligible due to a terminating pod on the nominated node.";
  metrics_.preemptionAttempts.inc();
  PreemptionSearch search{cluster_,
                          cycle.state(),
                          profile.layout(),
                          pod,
                          cycle.diagnosis().mayPreempt,
                          [&](Row row) { return cycle.fitsWithNominated(row); },
                          profile.preemptionArgs()};
  Preemption found = scheduler::preempt(search, rng_);
  if (found.row == kNoRow) {
    cluster_.denominate(uid);
    return found.message;
  }
  evictVictims(pod, profile, found);
  return "";
}

bool Engine::hasTerminatingVictim(Interned node, int32_t priority) const {
  const Row row = cluster_.table.find(node.view());
  if (row == kNoRow) return false;
  for (const PodPtr& pod : cluster_.table.info(row).pods)
    if (pod->pod->meta.isDeleting() && pod->cls->priority < priority) return true;
  return false;
}

void Engine::evictVictims(const PodPtr& pod, Profile& profile, const Preemption& found) {
  const api::Uid uid = pod->pod->meta.uid;
  const Interned node = cluster_.table.info(found.row).name;
  metrics_.preemptionVictims.observe(static_cast<double>(found.victims.size()));
  for (const PodPtr& other : cluster_.nominatedOn(node))
    if (other->cls->priority < pod->cls->priority) {
      cluster_.denominate(other->pod->meta.uid);
      effects_.clearNomination(*other->pod);
    }
  cluster_.nominate(pod, node);
  // Deletions go out in the order of the list; the pod is kept from trying until the last was sent.
  auto& left = evicting_[uid];
  for (const PodPtr& victim : found.victims) left.insert(victim->pod->meta.uid.str());
  for (auto victim = found.victims.rbegin(); victim != found.victims.rend(); ++victim) {
    const std::string victimUid = (*victim)->pod->meta.uid.str();
    effects_.preempt(*(*victim)->pod, *pod->pod, profile.config().schedulerName,
                     [this, uid, victimUid](Result<>) { victimSent(uid, victimUid); });
  }
}

void Engine::victimSent(const api::Uid& preemptor, const std::string& victim) {
  const auto at = evicting_.find(preemptor);
  if (at == evicting_.end()) return;
  at->second.erase(victim);
  progress_();
  if (!at->second.empty()) return;
  evicting_.erase(at);
  if (QueuedPod* queued = queue_->find(preemptor); queued && queued->gatedBy == "DefaultPreemption")
    queue_->activate(preemptor);
}

void Engine::tick() {
  queue_->flush();
  lookForVolumes();
  const WallTime now = clock_.wall();
  for (const auto& profile : profiles_)
    for (const auto& plugin : profile->plugins()) plugin->tick(now);
  const auto sizes = queue_->sizes();
  metrics_.pendingPods.with({"active"}).set(static_cast<double>(sizes.active));
  metrics_.pendingPods.with({"backoff"}).set(static_cast<double>(sizes.backoff));
  metrics_.pendingPods.with({"unschedulable"}).set(static_cast<double>(sizes.pool));
  metrics_.pendingPods.with({"gated"}).set(static_cast<double>(sizes.gated));
  metrics_.cacheSize.with({"nodes"}).set(static_cast<double>(cluster_.table.size()));
  metrics_.cacheSize.with({"pods"}).set(static_cast<double>(cluster_.podCount()));
  metrics_.cacheSize.with({"assumed_pods"}).set(static_cast<double>(binding_.size()));
}

}  // namespace mangrove::scheduler
