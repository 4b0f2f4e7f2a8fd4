// From the choice of a node to the binding: reserving, permission, volumes, the answer.
#include <algorithm>

#include <fmt/core.h>

#include "base/os/log.h"
#include "placement/engine/engine.h"

namespace mangrove::placement {

namespace {

const Logger log("scheduler");

double secondsOf(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

Diagnosis refusedBy(size_t nodes, std::string plugin, std::string reason) {
  Diagnosis out;
  out.nodes = nodes;
  out.preFilter = std::move(reason);
  out.plugins = {std::move(plugin)};
  return out;
}

}  // namespace

void Engine::commit(QueuedPod& queued, Profile& profile, PlanState& state,
                    const Placement& placed) {
  const PodPtr pod = queued.pod;
  const MonoTime start = clock_.mono();
  cluster_.assume(pod, placed.row);
  std::string plugin;
  const std::string reason = reserveAll({state.plan(), pod, placed.row}, profile, plugin);
  beside_.at(&profile).metrics.took(Point::kReserve, reason.empty(), clock_.mono() - start);
  if (!reason.empty())
    return fail(queued, profile, refusedBy(cluster_.table.size(), plugin, reason), pod);
  askPermission(queued, profile, state, placed.row);
}

// The first refusal undoes everything; its reason, "" when there is none.
std::string Engine::reserveAll(const Decision& decision, Profile& profile, std::string& plugin) {
  for (size_t i = 0; i < profile.reserve().size(); i++) {
    Result<> reserved;
    timed(sampled_, *profile.reserve()[i], Point::kReserve, [&] {
      reserved = profile.reserve()[i]->transactional()->reserve(decision);
      return reserved.has_value();
    });
    if (reserved) continue;
    undo(decision, profile, i);
    plugin = profile.reserve()[i]->name();
    return reserved.error().sentence();
  }
  return "";
}

void Engine::undo(const Decision& decision, Profile& profile, size_t reserved) {
  for (size_t i = reserved; i-- > 0;) profile.reserve()[i]->transactional()->unreserve(decision);
  cluster_.forget(decision.pod);
}

void Engine::askPermission(QueuedPod& queued, Profile& profile, PlanState& state, Row row) {
  const PodPtr pod = queued.pod;
  const Decision decision{state.plan(), pod, row};
  std::set<std::string> permits;
  Duration longest = Duration::zero();
  for (Plugin* plugin : profile.permit()) {
    const PodVerdict verdict = plugin->transactional()->permit(decision);
    if (verdict.kind == PodVerdict::Kind::kWait) {
      permits.insert(std::string(plugin->name()));
      longest = std::max(longest, std::min<Duration>(verdict.longest, std::chrono::minutes(15)));
    } else if (!verdict.go()) {
      undo(decision, profile, profile.reserve().size());
      beside_.at(&profile).metrics.took(Point::kPermit, false, Duration::zero());
      const std::string why = verdict.reasons.empty() ? "refused" : verdict.reasons.front();
      return fail(queued, profile,
                  refusedBy(cluster_.table.size(), std::string(plugin->name()), why), pod);
    }
  }
  const api::Uid uid = pod->pod->meta.uid;
  Binding& binding = binding_[uid];
  binding = {};
  binding.pod = pod;
  binding.profile = &profile;
  binding.row = row;
  binding.queued = queue_->take(uid);
  binding.since = clock_.mono();
  if (permits.empty()) return proceed(uid);
  binding.permitUntil = clock_.mono() + longest;
  effects_.nominate(*pod->pod, pod->nodeName.view());
  setIdle(binding, false, std::move(permits));
}

void Engine::setIdle(Binding& binding, bool waitsForVolumes, std::set<std::string> permits) {
  idle_ -= binding.isIdle();
  binding.waitsForVolumes = waitsForVolumes;
  binding.permits = std::move(permits);
  idle_ += binding.isIdle();
}

// Nothing is in the way any more: what must be written is collected, and sent.
void Engine::proceed(const api::Uid& uid) {
  Binding& binding = binding_.at(uid);
  if (const auto latest = waiting_.find(uid); latest != waiting_.end()) {
    if (latest->second->meta.isDeleting())
      return bindingDone(uid, mangrove::fail(mangrove::Code::kConflict, "pod is being deleted"));
    if (profileOf(*latest->second) != binding.profile)
      return bindingDone(uid, mangrove::fail(mangrove::Code::kConflict, "schedulerName unmatched"));
  }
  const Decision decision{binding.profile->compiled(binding.pod->cls).plan(), binding.pod,
                          binding.row};
  binding.sentAt = clock_.mono();
  for (Transactional* plugin : binding.profile->preBind())
    if (auto written = plugin->preBind(decision, binding.notes); !written) {
      beside_.at(binding.profile)
          .metrics.took(Point::kPreBind, false, clock_.mono() - binding.sentAt);
      return bindingDone(uid, written);
    }
  if (binding.notes.volumes.empty()) return send(uid, binding);
  effects_.nominate(*binding.pod->pod, binding.pod->nodeName.view());
  effects_.bindVolumes(binding.notes.volumes, [this, uid](Result<> result) {
    const auto at = binding_.find(uid);
    if (at == binding_.end()) return;
    if (!result) return bindingDone(uid, result);
    setIdle(at->second, true, {});
    lookForVolumes();
  });
}

void Engine::send(const api::Uid& uid, Binding& binding) {
  setIdle(binding, false, {});
  const MonoTime now = clock_.mono();
  beside_.at(binding.profile)
      .metrics.took(Point::kPreBind, true, now - std::exchange(binding.sentAt, now));
  effects_.bind(*binding.pod, binding.pod->nodeName.view(), binding.notes,
                [this, uid](Result<> result) { bindingDone(uid, result); });
}

// Bindings whose claims are all bound by now go out; those that wait too long fail.
void Engine::lookForVolumes() {
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
    else if (clock_.mono() - binding.since > binding.notes.longestVolumeWait)
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

// ---- permission -------------------------------------------------------------------------------

std::vector<PodPtr> Engine::waiting() const {
  std::vector<PodPtr> out;
  for (const auto& [uid, binding] : binding_)
    if (!binding.permits.empty()) out.push_back(binding.pod);
  return out;
}

void Engine::allow(const api::Uid& pod, std::string_view plugin) {
  const auto at = binding_.find(pod);
  if (at == binding_.end() || at->second.permits.empty()) return;
  auto left = at->second.permits;
  left.erase(std::string(plugin));
  setIdle(at->second, false, left);
  if (!left.empty()) return;
  const Duration waited = clock_.mono() - at->second.since;
  metrics_.permitWait.with({"allowed"}).observe(secondsOf(waited));
  beside_.at(at->second.profile).metrics.took(Point::kPermit, true, waited);
  proceed(pod);
}

void Engine::reject(const api::Uid& pod, std::string_view plugin, std::string reason) {
  const auto at = binding_.find(pod);
  if (at == binding_.end() || at->second.permits.empty()) return;
  setIdle(at->second, false, {});
  Binding binding = std::move(at->second);
  binding_.erase(at);
  PodPlan plan;
  plan.cls = binding.pod->cls;
  undo({plan, binding.pod, binding.row}, *binding.profile, binding.profile->reserve().size());
  assignedPodEvent(EventKind::kAssignedPodDelete, nullptr, binding.pod->pod, 0);
  progress_();
  const auto latest = waiting_.find(pod);
  if (latest == waiting_.end()) return;
  const std::string& name = binding.profile->config().schedulerName;
  const auto told = refusedBy(cluster_.table.size(), std::string(plugin), std::move(reason));
  const MonoTime now = clock_.mono();
  metrics_.permitWait.with({"rejected"}).observe(secondsOf(now - binding.since));
  beside_.at(binding.profile).metrics.unschedulable.add(now - binding.queued->lastAttempt);
  binding.queued->pod = cluster_.makeInfo(latest->second);
  queue_->giveBack(std::move(binding.queued), told.plugins, {}, false);
  effects_.failed(*latest->second, {"Unschedulable", told.message(), "", true}, name);
}

void Engine::activate(const api::Uid& pod) {
  queue_->activate(pod);
}

void Engine::lookForPermits() {
  std::vector<std::pair<api::Uid, std::string>> late;
  for (const auto& [uid, binding] : binding_)
    if (!binding.permits.empty() && clock_.mono() >= binding.permitUntil)
      late.emplace_back(uid, *binding.permits.begin());
  for (const auto& [uid, plugin] : late)
    reject(uid, plugin, fmt::format("rejected due to timeout after waiting at plugin {}", plugin));
}

// ---- whole groups -----------------------------------------------------------------------------

// "" when the pod has taken its place on the row.
std::string Engine::placeMember(Profile& profile, const PodPtr& pod, Row row) {
  Cycle cycle(profile, cluster_, pod);
  if (!cycle.prepare()) return cycle.diagnosis().preFilter;
  if (!cluster_.table.live(row) || !cycle.fitsWithNominated(row).fits())
    return fmt::format("pod {} does not fit on its planned node", pod->pod->meta.name.view());
  cluster_.assume(pod, row);
  std::string plugin;
  return reserveAll({cycle.state().plan(), pod, row}, profile, plugin);
}

// All or nobody: everybody takes a place first, and only then asks for permission and is bound.
void Engine::tryGroup(QueuedPod& queued, Profile& profile, const Group& group,
                      std::string_view plugin) {
  std::vector<std::pair<QueuedPod*, Row>> members;
  std::string why;
  for (const auto& [pod, row] : group) {
    const api::Uid& uid = pod->pod->meta.uid;
    QueuedPod* member = uid == queued.pod->pod->meta.uid ? &queued : queue_->pop(uid);
    if (!member) continue;  // scheduled or gone
    why = placeMember(profile, member->pod, row);
    members.emplace_back(member, why.empty() ? row : kNoRow);
    if (!why.empty()) break;
  }
  for (auto& [member, row] : members) {
    PlanState& state = profile.compiled(member->pod->cls);
    if (why.empty()) {
      askPermission(*member, profile, state, row);
      continue;
    }
    if (row != kNoRow) undo({state.plan(), member->pod, row}, profile, profile.reserve().size());
    fail(*member, profile, refusedBy(cluster_.table.size(), std::string(plugin), why), member->pod);
  }
}

// ---- the answer -------------------------------------------------------------------------------

void Engine::bindingDone(const api::Uid& uid, const Result<>& result) {
  const auto at = binding_.find(uid);
  if (at == binding_.end()) return;
  setIdle(at->second, false, {});
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
    const MonoTime now = clock_.mono();
    ProfileMetrics& metrics = beside_.at(binding.profile).metrics;
    metrics.took(Point::kBind, true, now - binding.sentAt);
    metrics.scheduled.add(now - binding.queued->lastAttempt);
    metrics.waited(binding.queued->attempts, now - binding.queued->firstQueued);
    metrics_.podAttempts.observe(binding.queued->attempts);
    effects_.scheduled(pod, binding.pod->nodeName.view(), name);
    if (auditor_) {
      auditor_->saw(uid, Audited::kScheduled, "");
      auditor_->ended(uid, "scheduled");
    }
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
  PodFailure failure{"SchedulerError", result.error().text(), "", !binding.notes.volumes.empty()};
  beside_.at(binding.profile).metrics.error.add(clock_.mono() - binding.queued->lastAttempt);
  queue_->giveBack(std::move(binding.queued), {}, {}, true);
  effects_.failed(*latest->second, failure, name);
}

}  // namespace mangrove::placement
