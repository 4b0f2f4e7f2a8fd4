// From the choice of a node to the binding: reserving, permission, volumes, the answer.
//
// What must stay true, and why:
// - A pod is in binding_ from its permission to its answer, and in the queue at no time in between:
//   two attempts at once would reserve twice.
// - The cluster counts it on its node from commit() on, before anybody is asked: the next pod must
//   see the room taken. Every way that does not end in a binding ends in undo().
// - bindingDone() runs once for each binding, whoever comes first (answer, refusal, time limit,
//   deletion): it takes the entry away, and whoever comes later finds none.
// - Answers find their binding by uid: the pod may have gone, and another of its name be there.
// - idle_ is the number of bindings that wait for others; setIdle() alone changes what it counts.
#include <algorithm>

#include <fmt/core.h>

#include "api/wire/names.h"
#include "base/os/log.h"
#include "placement/engine/engine.h"

namespace mangrove::placement {

namespace {

const Logger log("scheduler");

struct VolumeState {
  bool bound = false;
  std::string trouble;  // nobody will ever bind them here
};
// A provisioner that cannot serve a node takes back the mark we made on the claim, so that the pod
// is tried elsewhere.
VolumeState volumesOf(BindNotes& notes, std::string_view node, const Cluster& cluster) {
  VolumeState out;
  out.bound = true;
  for (VolumeNote& note : notes.volumes) {
    const auto claim = cluster.storage.claims.find(note.claim);
    const bool bound = claim && !claim->volumeName.empty();
    out.bound = out.bound && bound;
    if (!claim) out.trouble = fmt::format("claim {} is gone", note.claim);
    if (!claim || bound || note.selectedNode.empty()) continue;
    const bool isMarked =
        claim->meta.annotations.get(api::annotation::kSelectedNode).value_or("") == node;
    if (note.seen && !isMarked)
      out.trouble = fmt::format("the provisioner of claim {} withdrew node {}", note.claim, node);
    note.seen = note.seen || isMarked;
  }
  return out;
}

}  // namespace

void Engine::commit(QueuedPod& queued, Profile& profile, PlanState& state,
                    const Placement& placed) {
  const PodPtr pod = queued.pod;
  const MonoTime start = clock_.mono();
  const Interned nominated = cluster_.nominatedNode(pod->pod->meta.uid);
  Transaction decision(cluster_);
  const auto refusal = decision.place(profile, pod, placed.row, sampled_);
  decision.commit();
  beside_.at(&profile).metrics.took(Point::kReserve, !refusal, clock_.mono() - start);
  if (refusal)
    return fail(queued, profile,
                Diagnosis::refusal(cluster_.table.size(), refusal->plugin, refusal->reason), pod);
  askPermission(queued, profile, state, placed.row, nominated);
  announce(pod->pod->meta.uid);
}

void Engine::undo(const Binding& binding) {
  PodPlan plan;  // plugins find what they reserved by the pod, whatever became of its plan
  plan.cls = binding.pod->cls;
  unreserveAll(*binding.profile, cluster_, {plan, binding.pod, binding.row});
}

void Engine::askPermission(QueuedPod& queued, Profile& profile, PlanState& state, Row row,
                           Interned nominated) {
  const Busy busy(*this);
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
      unreserveAll(profile, cluster_, decision);
      beside_.at(&profile).metrics.took(Point::kPermit, false, Duration::zero());
      const std::string why = verdict.reasons.empty() ? "refused" : verdict.reasons.front();
      return fail(queued, profile,
                  Diagnosis::refusal(cluster_.table.size(), std::string(plugin->name()), why), pod);
    }
  }
  const api::Uid uid = pod->pod->meta.uid;
  Binding& binding = binding_[uid];
  binding = {};
  binding.pod = pod;
  binding.profile = &profile;
  binding.row = row;
  binding.queued = queue_->take(uid, !permits.empty());
  binding.since = clock_.mono();
  binding.number = ++decided_;
  binding.nominated = nominated;
  if (permits.empty()) return proceed(uid);
  binding.permitUntil = clock_.mono() + longest;
  permitDue_ = std::min(permitDue_, binding.permitUntil);
  setIdle(binding, false, std::move(permits));
}

// Where the pod will go, when that takes a while.
void Engine::announce(const api::Uid& uid) {
  const auto at = binding_.find(uid);
  if (at != binding_.end() && !at->second.permits.empty())
    effects_.nominate(*at->second.pod->pod, at->second.pod->nodeName.view());
}

void Engine::setIdle(Binding& binding, bool waitsForVolumes, std::set<std::string> permits) {
  idle_ -= binding.isIdle();
  awaitVolumes_ -= binding.waitsForVolumes;
  binding.waitsForVolumes = waitsForVolumes;
  binding.permits = std::move(permits);
  idle_ += binding.isIdle();
  awaitVolumes_ += binding.waitsForVolumes;
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
  write(std::exchange(binding.notes.patches, {}), [this, uid](Result<> result) {
    if (binding_.find(uid) == binding_.end()) return;
    result ? bindVolumes(uid) : bindingDone(uid, result);
  });
}

void Engine::bindVolumes(const api::Uid& uid) {
  Binding& binding = binding_.at(uid);
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
  const auto done = [this, uid](Result<> result) { bindingDone(uid, result); };
  for (Binder* binder : binding.profile->binders())
    if (binder->binds(*binding.pod)) {
      const PodPlan& plan = binding.profile->compiled(binding.pod->cls).plan();
      auto patches = binder->binding({plan, binding.pod, binding.row}, binding.notes);
      return write(std::move(patches), [this, uid, binder, pod = binding.pod](Result<> result) {
        binder->answered(*pod, result.has_value());
        bindingDone(uid, result);
      });
    }
  effects_.bind(*binding.pod, binding.pod->nodeName.view(), binding.notes, done);
}

// One after the other; the first refusal ends it.
void Engine::write(std::vector<ObjectPatch> patches, std::function<void(Result<>)> done) {
  if (patches.empty()) return done({});
  const ObjectPatch first = std::move(patches.front());
  patches.erase(patches.begin());
  effects_.patch(first, [this, left = std::move(patches), done](Result<> result) {
    if (!result || left.empty()) return done(result);
    write(left, done);
  });
}

// Bindings whose claims are all bound by now go out; those that wait too long or in vain fail.
void Engine::lookForVolumes() {
  if (awaitVolumes_ == 0) return;
  for (const auto& uid : bindingsThat([](const Binding& b) { return b.waitsForVolumes; })) {
    Binding& binding = binding_.at(uid);
    const VolumeState state = volumesOf(binding.notes, binding.pod->nodeName.view(), cluster_);
    if (state.bound)
      send(uid, binding);
    else if (!state.trouble.empty())
      bindingDone(uid, mangrove::fail(mangrove::Code::kUnavailable, "{}", state.trouble));
    else if (clock_.mono() - binding.since > binding.notes.longestVolumeWait)
      bindingDone(uid, mangrove::fail(mangrove::Code::kTimeout,
                                      "binding volumes: timed out waiting for the condition"));
  }
}

void Engine::happened(const ClusterEvent& event) {
  if (event.kind == EventKind::kStorage) lookForVolumes();
  queue_->happened(event);
}

// ---- the answer -------------------------------------------------------------------------------

void Engine::bindingDone(const api::Uid& uid, const Result<>& result) {
  const Busy busy(*this);
  const auto at = binding_.find(uid);
  if (at == binding_.end()) return;
  setIdle(at->second, false, {});
  Binding binding = std::move(at->second);
  binding_.erase(at);
  queue_->settled(*binding.queued);
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
  undo(binding);
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
