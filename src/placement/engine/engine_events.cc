// What the watches tell the engine.
#include <algorithm>

#include "placement/engine/engine.h"

namespace mangrove::placement {

namespace {

bool sameHeartbeat(const std::vector<api::Condition>& a, const std::vector<api::Condition>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.type == y.type && x.status == y.status;
  });
}

bool sameImages(const api::Node& a, const api::Node& b) {
  const auto& x = a.status.images;
  const auto& y = b.status.images;
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const auto& p, const auto& q) {
    return p.names == q.names && p.size == q.size;
  });
}

uint32_t nodeActions(const api::Node& before, const api::Node& after) {
  uint32_t actions = 0;
  if (!(before.status.allocatable == after.status.allocatable)) actions |= action::kAllocatable;
  if (!(before.meta.labels == after.meta.labels)) actions |= action::kLabel;
  if (!(before.spec.taints == after.spec.taints) ||
      before.spec.unschedulable != after.spec.unschedulable)
    actions |= action::kTaint;
  if (!sameHeartbeat(before.status.conditions, after.status.conditions))
    actions |= action::kCondition;
  if (!(before.meta.annotations == after.meta.annotations)) actions |= action::kAnnotation;
  return actions;
}

bool asksLess(const PodRequests& before, const PodRequests& after) {
  return std::any_of(before.all.begin(), before.all.end(), [&](const Request& request) {
    return after.amount(request.id) < request.amount;
  });
}

}  // namespace

void Engine::nodeChanged(const NodeObject& before, const NodeObject& after) {
  ClusterEvent event;
  event.nodeBefore = before;
  event.node = after;
  if (!after) {
    event.kind = EventKind::kNodeDelete;
    event.label = "NodeDelete";
    cluster_.removeNode(before->meta.name.view());
    return queue_->happened(event);
  }
  const uint32_t actions = before ? nodeActions(*before, *after) : 0;
  // Heartbeats change nothing that anybody asks for.
  if (before && actions == 0 && sameImages(*before, *after)) return;
  event.row = cluster_.putNode(after);
  event.kind = before ? EventKind::kNodeUpdate : EventKind::kNodeAdd;
  event.label = before ? "NodeUpdate" : "NodeAdd";
  event.actions = actions;
  if (!before || actions != 0) queue_->happened(event);
}

void Engine::podChanged(const PodObject& before, const PodObject& after) {
  if (auditor_ && !after) auditEndOfGroup(*before);
  for (const auto& profile : profiles_)
    for (PodFeed* feed : profile->feeds()) feed->podSeen(before, after);
  if (!after || api::isTerminated(*after)) return podGone(after ? after : before);
  if (!after->nodeName.empty()) return assignedPodChanged(before, after);
  if (profileOf(*after)) return waitingPodChanged(before, after);
  if (config_.crossSchedulerNomination) foreignPodChanged(after);
}

void Engine::foreignPodChanged(const PodObject& after) {
  const Interned node = after->status.nominatedNodeName;
  const bool wants = !node.empty() && !after->meta.isDeleting();
  if (!wants) return forgetForeign(after->meta.uid);
  foreign_.insert(after->meta.uid);
  cluster_.nominate(cluster_.makeInfo(after), node);
}

void Engine::forgetForeign(const api::Uid& uid) {
  if (foreign_.erase(uid) > 0) cluster_.denominate(uid);
}

void Engine::podGone(const PodObject& pod) {
  const api::Uid& uid = pod->meta.uid;
  waiting_.erase(uid);
  if (auditor_) auditor_->ended(uid, "deleted");
  // Nobody would answer a binding that waits: what it holds is free at once.
  if (const auto at = binding_.find(uid); at != binding_.end() && at->second.isIdle())
    bindingDone(uid, mangrove::fail(mangrove::Code::kNotFound, "the pod is gone"));
  evicting_.erase(uid);
  ourVictims_.erase(uid);
  foreign_.erase(uid);
  queue_->remove(uid);
  // Room that was only kept for it is free as well.
  const bool counted = cluster_.find(uid) || !cluster_.nominatedNode(uid).empty();
  cluster_.gone(uid);
  if (counted) assignedPodEvent(EventKind::kAssignedPodDelete, nullptr, pod, 0);
  victimOut(uid);
}

void Engine::assignedPodChanged(const PodObject& before, const PodObject& after) {
  const api::Uid& uid = after->meta.uid;
  waiting_.erase(uid);
  if (auditor_ && !binding_.contains(uid)) auditor_->ended(uid, "scheduled");  // by another one
  evicting_.erase(uid);
  foreign_.erase(uid);
  queue_->remove(uid);
  const PodPtr known = cluster_.find(uid);
  const bool isNew = !known || known->assumed;
  uint32_t actions = 0;
  // What it asked for before; observe() may change the very same object.
  const ClassPtr oldClass = known ? known->cls : nullptr;
  const auto oldGrant =
      known && known->granted ? std::make_unique<PodRequests>(*known->granted) : nullptr;
  const PodPtr now = cluster_.observe(after);
  if (known && (oldGrant || now->granted || oldClass != now->cls) &&
      asksLess(oldGrant ? *oldGrant : oldClass->requests, now->requests()))
    actions |= action::kScaleDown;
  if (before && !(before->meta.labels == after->meta.labels)) actions |= action::kLabel;
  if (isNew)
    assignedPodEvent(EventKind::kAssignedPodAdd, nullptr, after, 0);
  else if (actions != 0)
    assignedPodEvent(EventKind::kAssignedPodUpdate, before, after, actions);
  if (after->meta.isDeleting()) victimOut(uid);
}

void Engine::waitingPodChanged(const PodObject& before, const PodObject& after) {
  const api::Uid& uid = after->meta.uid;
  waiting_[uid] = after;
  if (cluster_.find(uid)) return;  // decided already; the binding is on its way
  if (auditor_) {
    auditor_->created(*after);
    auditor_->gated(*after);
    auditGroupOf(*after);
  }
  if (after->meta.isDeleting()) {
    queue_->remove(uid);
    cluster_.denominate(uid);
    return;
  }
  PodPtr info = cluster_.makeInfo(after);
  const QueuedPod* queued = queue_->find(uid);
  const Interned nominated = after->status.nominatedNodeName;
  if (!queued || !before || before->status.nominatedNodeName != nominated) {
    if (!nominated.empty() || queued) cluster_.nominate(info, nominated);
  } else if (const Interned ours = cluster_.nominatedNode(uid); !ours.empty()) {
    cluster_.nominate(info, ours);
  }
  if (!queued) return queue_->add(std::move(info));
  uint32_t actions = 0;
  const api::Pod& old = *queued->pod->pod;
  if (!(old.meta.labels == after->meta.labels)) actions |= action::kLabel;
  if (!(old.spec->tolerations == after->spec->tolerations)) actions |= action::kTolerations;
  if (!(old.spec->schedulingGates == after->spec->schedulingGates)) actions |= action::kGates;
  if (asksLess(queued->pod->requests(), info->requests())) actions |= action::kScaleDown;
  queue_->update(std::move(info), actions);
}

void Engine::assignedPodEvent(EventKind kind, const PodObject& before, const PodObject& pod,
                              uint32_t actions) {
  ClusterEvent event;
  event.kind = kind;
  event.actions = actions;
  event.label = kind == EventKind::kAssignedPodDelete ? "AssignedPodDelete"
                : kind == EventKind::kAssignedPodAdd  ? "AssignedPodAdd"
                                                      : "AssignedPodUpdate";
  event.podBefore = before;
  event.pod = pod;
  queue_->happened(event);
}

void Engine::namespaceChanged(std::string_view name, const api::Namespace* after) {
  const Interned ns(name);
  if (after)
    cluster_.namespaces.set(ns, after->meta.labels);
  else
    cluster_.namespaces.erase(ns);
  ClusterEvent event;
  event.kind = EventKind::kNamespace;
  event.label = "NamespaceUpdate";
  queue_->happened(event);
}

}  // namespace mangrove::placement
