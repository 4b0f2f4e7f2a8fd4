#include "placement/engine/engine.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/annotations/scheduling.h"
#include "base/os/log.h"
#include "placement/explain/debug.h"
#include "placement/plugins/deviceshare/device_books.h"
#include "placement/plugins/registry.h"

namespace mangrove::placement {

namespace {

const Logger log("scheduler");

double secondsOf(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

Engine::Engine(Clock& clock, Effects& effects, Registry& registry)
    : clock_(clock),
      effects_(effects),
      registry_(registry),
      metrics_(registry),
      pluginTimes_(metrics_.pluginExecution, clock) {}

Engine::~Engine() = default;

Result<> Engine::configure(const SchedulerConfig& config) {
  return configure(config, pluginEntries());
}

Result<> Engine::configure(const SchedulerConfig& config, std::span<const PluginEntry> known) {
  config_ = config;
  for (const ProfileConfig& wanted : config.profiles) {
    auto profile = Profile::make(wanted, known,
                                 {cluster_, clock_, this, "", this, config.quotaGates, &registry_,
                                  config.devicePluginAdaption});
    if (!profile) return profile.error().in("profile {}", wanted.schedulerName);
    beside_.emplace(profile->get(), Beside{ProfileMetrics(metrics_, wanted.schedulerName)});
    profiles_.push_back(std::move(*profile));
  }
  const auto pluginOf = [this](const std::string& name, const PodInfo& pod) -> Plugin* {
    Profile* profile = profileOf(*pod.pod);
    return profile ? profile->find(name) : nullptr;
  };
  QueueRules rules;
  rules.admit = [this](const PodInfo& pod) -> std::string {
    Profile* profile = profileOf(*pod.pod);
    if (evicting_.contains(pod.pod->meta.uid)) return std::string(kEvicting);
    if (profile)
      for (Plugin* plugin : profile->preEnqueue())
        if (!plugin->admit(*pod.pod).go()) return std::string(plugin->name());
    return "";
  };
  // A pod that its group sent back gave room to others; its own group would only do the same again.
  const auto isOwnReturn = [this](const ClusterEvent& event, const PodInfo& pod) {
    if (event.kind != EventKind::kAssignedPodDelete || event.podBefore != event.pod) return false;
    const Profile* profile = profileOf(*pod.pod);
    return profile &&
           std::any_of(profile->groupWise().begin(), profile->groupWise().end(),
                       [&](Plugin* p) { return p->groupWise()->sharesRoom(*event.pod, *pod.pod); });
  };
  rules.hint = [pluginOf, isOwnReturn](const std::string& name, const ClusterEvent& event,
                                       const PodInfo& pod) {
    Plugin* plugin = pluginOf(name, pod);
    return plugin && !isOwnReturn(event, pod) ? plugin->hint(event, pod) : Hint::kSkip;
  };
  rules.interests = [this](const std::string& name) {
    uint32_t all = 0;
    for (const auto& profile : profiles_)
      if (Plugin* plugin = profile->find(name)) all |= plugin->interests();
    return all;
  };
  rules.entered = [this](Area area, std::string_view event) { cameIn(area, event); };
  rules.wakes = [pluginOf](const std::string& name, const PodInfo& pod) {
    Plugin* plugin = pluginOf(name, pod);
    return plugin != nullptr && plugin->wakes(pod);
  };
  rules.pooled = [this](const QueuedPod& pod, int sign) { countRefused(pod, sign); };
  QueueOptions options;
  options.initialBackoff = config.podInitialBackoff;
  options.maxBackoff = config.podMaxBackoff;
  options.maxInPool = config.longestInPool;
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

// Gangs may name who is next; otherwise the queue does.
QueuedPod* Engine::nextPod() {
  for (const auto& profile : profiles_)
    for (Plugin* plugin : profile->groupWise())
      if (QueuedPod* queued = nextOf(*plugin->groupWise())) return queued;
  return queue_->pop();
}

QueuedPod* Engine::nextOf(GroupWise& groups) {
  const std::string turn = auditor_ ? groups.turn() : "";
  const auto next = groups.nextPod();
  if (!turn.empty() && groups.turn() != turn)
    auditGroup(turn, Audited::kAllAttempted, "all pending pods already attempted");
  if (!next) return nullptr;
  const MonoTime start = clock_.mono();
  QueuedPod* queued = queue_->pop(*next);
  metrics_.takenByName.observe(secondsOf(clock_.mono() - start));
  return queued;
}

bool Engine::scheduleOne() {
  QueuedPod* queued = nextPod();
  if (!queued) return false;
  const PodPtr pod = queued->pod;
  const api::Uid& uid = pod->pod->meta.uid;
  Profile* profile = profileOf(*pod->pod);
  if (!profile || pod->pod->meta.isDeleting() || cluster_.find(uid)) {
    queue_->done(uid);
    return true;
  }
  tryPod(*queued, *profile);
  return true;
}

void Engine::tryPod(QueuedPod& queued, Profile& profile) {
  PodPtr pod = queued.pod;
  for (Transforming* plugin : profile.layout().transforming)
    if (PodPtr other = plugin->beforeFilters(pod)) queued.pod = pod = std::move(other);
  for (Plugin* plugin : profile.groupWise())
    if (const auto group = plugin->groupWise()->group(*pod->pod))
      return tryGroup(queued, profile, *group, *plugin);
  const MonoTime start = clock_.mono();
  Cycle cycle(profile, cluster_, pod, cycleOptions(profile));
  const auto placed = cycle.run();
  tell(cycle, *pod, placed, clock_.mono() - start, profile);
  if (!placed) {
    const Audited what = makeRoom(queued, profile, cycle);
    if (debug_.diagnosis) log.info("{}", diagnosisLine(cycle, cluster_, *pod->pod, clock_.wall()));
    return fail(queued, profile, cycle.diagnosis(), queued.pod, what);
  }
  metrics_.evaluatedNodes.observe(static_cast<double>(placed->evaluated));
  metrics_.feasibleNodes.observe(static_cast<double>(placed->feasible));
  commit(queued, profile, cycle.state(), *placed);
}

CycleOptions Engine::cycleOptions(Profile& profile) {
  CycleOptions options;
  options.percentageOfNodesToScore =
      profile.config().percentageOfNodesToScore.value_or(config_.percentageOfNodesToScore);
  options.rotation = &beside_.at(&profile).rotation;
  options.clock = &clock_;
  options.pluginTimes = sampled_ = pluginTimes_.sampled();
  options.foreign = &foreign_;
  options.besideOnly = config_.skipFilterWithNominatedPods;
  return options;
}

// What was asked to be told about each decision, and whether it took too long.
void Engine::tell(Cycle& cycle, const PodInfo& pod, const std::optional<Placement>& placed,
                  Duration took, Profile& profile) {
  metrics_.algorithmDuration.observe(secondsOf(took));
  ProfileMetrics& metrics = beside_.at(&profile).metrics;
  const CycleTimes& times = cycle.times();
  const bool prepared = placed || cycle.diagnosis().preFilter.empty();
  if (times.preFilter) metrics.took(Point::kPreFilter, prepared, *times.preFilter);
  if (times.filter) metrics.took(Point::kFilter, placed.has_value(), *times.filter);
  if (times.score && placed) metrics.took(Point::kScore, true, *times.score);
  const bool talks = took > longestCycle_ || debug_.topScores > 0 || debug_.filters;
  if (!talks) return;
  const std::string name = pod.pod->meta.ns.str() + "/" + pod.pod->meta.name.str();
  if (took > longestCycle_) {
    log.warn("critical timeout: choosing a node for {} took {:.1f} s, more than {:.1f} s", name,
             secondsOf(took), secondsOf(longestCycle_));
    metrics_.schedulingTimeout.with({profile.config().schedulerName}).inc();
  }
  if (debug_.topScores > 0 && placed)
    log.info("scores of {}\n{}", name,
             scoreTable(cycle, cluster_, static_cast<size_t>(debug_.topScores)));
  if (debug_.filters && !placed)
    for (const auto& group : cycle.diagnosis().groups)
      log.info("{}: {} refuses {} nodes: {}", name, group.plugin, group.nodes, group.reason);
}

// ---- failure -----------------------------------------------------------------------------------

void Engine::audit(AuditorOptions options, Registry& registry) {
  auditor_ = std::make_unique<Auditor>(std::move(options), clock_, registry);
}

void Engine::fail(QueuedPod& queued, Profile& profile, const Diagnosis& diagnosis,
                  const PodPtr& pod, Audited what) {
  const std::string& name = profile.config().schedulerName;
  const api::Uid uid = pod->pod->meta.uid;
  ProfileMetrics& metrics = beside_.at(&profile).metrics;
  (diagnosis.isError ? metrics.error : metrics.unschedulable)
      .add(clock_.mono() - queued.lastAttempt);
  PodFailure failure;
  failure.reason = diagnosis.isError ? "SchedulerError" : "Unschedulable";
  failure.message = diagnosis.message();
  if (auditor_) auditor_->saw(uid, what, failure.message);
  failure.nominatedNode = cluster_.nominatedNode(uid).str();
  failure.changesNomination = failure.nominatedNode != pod->pod->status.nominatedNodeName.view();
  const auto latest = waiting_.find(uid);
  const PodObject object = latest == waiting_.end() ? pod->pod : latest->second;
  if (latest != waiting_.end() && latest->second != pod->pod)
    queued.pod = cluster_.makeInfo(latest->second);
  queue_->returned(uid, diagnosis.plugins, diagnosis.waiting, diagnosis.isError);
  effects_.failed(*object, failure, name);
  for (Plugin* plugin : profile.groupWise()) plugin->groupWise()->afterFailure(pod, diagnosis);
}

void Engine::tick() {
  queue_->flush();
  lookForVolumes();
  lookForPermits();
  const WallTime now = clock_.wall();
  for (const auto& profile : profiles_)
    for (const auto& plugin : profile->plugins()) plugin->tick(now);
  size_t groups = 0;
  for (const auto& profile : profiles_)
    for (Plugin* plugin : profile->groupWise())
      groups += idle_ > 0 ? plugin->groupWise()->waitingGroups() : 0;
  metrics_.waitingGangGroups.set(static_cast<double>(groups));
  if (const auto& books = cluster_.deviceBooks)
    metrics_.devicesGivenTwice.set(static_cast<double>(books->quarrels()));
  const auto sizes = queue_->sizes();
  metrics_.pendingPods.with({"active"}).set(static_cast<double>(sizes.active));
  metrics_.pendingPods.with({"backoff"}).set(static_cast<double>(sizes.backoff));
  metrics_.pendingPods.with({"unschedulable"}).set(static_cast<double>(sizes.pool));
  metrics_.pendingPods.with({"gated"}).set(static_cast<double>(sizes.gated));
  showRefused();
  metrics_.cacheSize.with({"nodes"}).set(static_cast<double>(cluster_.table.size()));
  metrics_.cacheSize.with({"pods"}).set(static_cast<double>(cluster_.podCount()));
  metrics_.cacheSize.with({"assumed_pods"}).set(static_cast<double>(binding_.size()));
}

bool Engine::ready() const {
  if (queue_->ready()) return true;
  for (const auto& profile : profiles_)
    for (Plugin* plugin : profile->groupWise())
      if (plugin->groupWise()->hasNext()) return true;
  return false;
}

bool Engine::hasNews() const {
  for (const auto& profile : profiles_)
    for (const auto& plugin : profile->plugins())
      if (Reporting* reporting = plugin->reporting(); reporting && reporting->isUrgent())
        return true;
  return false;
}

void Engine::report() {
  const WallTime now = clock_.wall();
  for (const auto& profile : profiles_)
    for (const auto& plugin : profile->plugins()) {
      Reporting* reporting = plugin->reporting();
      if (!reporting) continue;
      for (const ObjectPatch& patch : reporting->takePatches(now))
        effects_.patch(patch, [reporting, patch](const Result<>& result) {
          result ? reporting->written(patch) : reporting->notWritten(patch);
        });
    }
}

void Engine::cameIn(Area area, std::string_view event) {
  const auto [at, isNew] = incoming_.try_emplace({area, std::string(event)});
  if (isNew)
    at->second = metrics_.queueIncoming.with({area == Area::kActive ? "active"
                                              : area == Area::kPool ? "unschedulable"
                                                                    : "backoff",
                                              std::string(event)});
  at->second.inc();
}

void Engine::countRefused(const QueuedPod& pod, int sign) {
  const Profile* profile = profileOf(*pod.pod->pod);
  if (!profile) return;
  for (const auto& plugin : pod.refusedBy)
    refused_[{plugin, profile->config().schedulerName}] += sign;
  refusedChanged_ = true;
}

void Engine::showRefused() {
  if (!std::exchange(refusedChanged_, false)) return;
  for (const auto& [key, pods] : refused_)
    metrics_.unschedulablePods.with({key.first, key.second}).set(static_cast<double>(pods));
}

}  // namespace mangrove::placement
