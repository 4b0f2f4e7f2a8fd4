#include "placement/cluster/cluster.h"

#include <algorithm>

#include "placement/reservation/reserve_pod.h"

namespace mangrove::placement {

namespace {

// Whether the pod counts as before. Annotations may have come with the binding; nothing that is
// counted by class depends on them.
bool sameDemand(const PodInfo& known, const api::Pod& pod) {
  const PodClass& cls = *known.cls;
  return known.nodeName == pod.nodeName && !known.granted && !hasGrants(pod) &&
         known.terminating == pod.meta.isDeleting() && cls.spec.id() == pod.spec.id() &&
         cls.ns == pod.meta.ns && cls.labels == pod.meta.labels;
}

}  // namespace

Cluster::Cluster() {
  reservations.onHeld = [this](const PodInfo& standIn) {
    for (auto* listener : listeners_) listener->standInChanged(standIn);
  };
}

Row Cluster::putNode(std::shared_ptr<const api::Node> node) {
  const Interned name(node->meta.name.view());
  const Row row = table.put(std::move(node));
  if (onNode_.contains(name)) noteNominated(name);
  reservations.nodeChanged(row);
  for (auto* listener : listeners_) listener->nodeChanged(row);
  if (auto waiting = homeless_.extract(name); !waiting.empty())
    for (const PodPtr& pod : waiting.mapped()) place(pod, false);
  return row;
}

void Cluster::removeNode(std::string_view name) {
  const Row row = table.find(name);
  if (row == kNoRow) return;
  const Interned handle = table.info(row).name;
  while (!table.info(row).pods.empty()) {
    const PodPtr pod = table.info(row).pods.back();
    displace(pod, false);
    homeless_[handle].push_back(pod);
  }
  for (auto* listener : listeners_) listener->nodeGone(row);
  table.erase(row);
  if (row < nominatedRows_.size()) nominatedRows_[row] = 0;
}

Row Cluster::putMetric(std::string_view node, std::shared_ptr<const api::NodeMetric> metric) {
  metric ? nodeMetrics.put(std::string(node), std::move(metric)) : nodeMetrics.erase(node);
  const Row row = table.find(node);
  if (row != kNoRow)
    for (auto* listener : listeners_) listener->metricChanged(row);
  return row;
}

Row Cluster::putTopology(std::string_view node,
                         std::shared_ptr<const api::NodeResourceTopology> topology) {
  topology ? topologies.put(std::string(node), std::move(topology)) : topologies.erase(node);
  const Row row = table.find(node);
  if (row != kNoRow)
    for (auto* listener : listeners_) listener->topologyChanged(row);
  return row;
}

Row Cluster::putDevice(std::string_view node, std::shared_ptr<const api::Device> device) {
  device ? devices.put(std::string(node), std::move(device)) : devices.erase(node);
  const Row row = table.find(node);
  if (row != kNoRow)
    for (auto* listener : listeners_) listener->deviceChanged(row);
  return row;
}

void Cluster::putPodGroup(std::string_view key, std::shared_ptr<const api::PodGroup> group) {
  group ? podGroups.put(std::string(key), std::move(group)) : podGroups.erase(key);
  for (auto* listener : listeners_) listener->podGroupChanged(key);
}

void Cluster::putQuota(std::string_view key, std::shared_ptr<const api::ElasticQuota> quota) {
  quota ? elasticQuotas.put(std::string(key), std::move(quota)) : elasticQuotas.erase(key);
  for (auto* listener : listeners_) listener->quotaChanged(key);
}

PodPtr Cluster::makeInfo(std::shared_ptr<const api::Pod> pod) {
  auto info = std::make_shared<PodInfo>();
  info->cls = classes.of(*pod);
  if (hasGrants(*pod))
    info->granted = std::make_unique<PodRequests>(requestsOf(*pod, table.resources()));
  info->nodeName = pod->nodeName;
  info->terminating = pod->meta.isDeleting();
  info->isStandIn = isReservePod(*pod);
  info->pod = std::move(pod);
  return info;
}

PodPtr Cluster::makeSoleInfo(const std::shared_ptr<const api::Pod>& pod) {
  PodPtr info = makeInfo(pod);
  info->cls = classes.soleOf(*pod);
  return info;
}

void Cluster::place(const PodPtr& pod, bool trial) {
  const Row row = table.find(pod->nodeName.view());
  if (row == kNoRow) {
    homeless_[pod->nodeName].push_back(pod);
    return;
  }
  reservations.arriving(pod);
  table.addPod(pod, row);
  reservations.arrived(pod);
  reservations.rowChanged(row, trial);
  for (auto* listener : listeners_) listener->podAdded(*pod, row, trial);
}

void Cluster::displace(const PodPtr& pod, bool trial) {
  const Row row = pod->row;
  if (row == kNoRow) {
    if (auto at = homeless_.find(pod->nodeName); at != homeless_.end()) std::erase(at->second, pod);
    return;
  }
  table.removePod(pod, trial);
  trial ? reservations.away(pod, true) : reservations.left(pod);
  reservations.rowChanged(row, trial);
  for (auto* listener : listeners_) listener->podRemoved(*pod, row, trial);
}

PodPtr Cluster::observe(const std::shared_ptr<const api::Pod>& pod) {
  PodPtr& slot = pods_[pod->meta.uid];
  if (slot && sameDemand(*slot, *pod)) {
    // Who started when decides about victims; nothing else that is remembered depends on it.
    const bool started = slot->pod->status.startTime != pod->status.startTime;
    slot->pod = pod;
    slot->assumed = false;
    reservations.updated(slot);
    reservations.rowChanged(slot->row, false);
    if (started && slot->row != kNoRow) table.touch(slot->row);
    if (slot->row != kNoRow)
      for (auto* listener : listeners_) listener->podUpdated(*slot, slot->row);
    return slot;
  }
  PodPtr info = makeInfo(pod);
  if (slot) displace(slot, false);
  slot = info;
  place(info, false);
  denominate(pod->meta.uid);
  return info;
}

void Cluster::gone(const api::Uid& uid) {
  denominate(uid);
  const auto at = pods_.find(uid);
  if (at == pods_.end()) return;
  const PodPtr pod = at->second;
  pods_.erase(at);
  displace(pod, false);
}

PodPtr Cluster::find(const api::Uid& uid) const {
  const auto at = pods_.find(uid);
  return at == pods_.end() ? nullptr : at->second;
}

void Cluster::assume(const PodPtr& pod, Row row) {
  pod->nodeName = table.info(row).name;
  pod->assumed = true;
  pods_[pod->pod->meta.uid] = pod;
  denominate(pod->pod->meta.uid);
  reservations.arriving(pod);
  table.addPod(pod, row);
  reservations.arrived(pod);
  reservations.rowChanged(row, false);
  for (auto* listener : listeners_) listener->podAdded(*pod, row, false);
}

void Cluster::forget(const PodPtr& pod) {
  const auto at = pods_.find(pod->pod->meta.uid);
  if (at == pods_.end() || at->second != pod || !pod->assumed) return;  // the watch was faster
  pods_.erase(at);
  displace(pod, false);
  pod->assumed = false;
  pod->nodeName = Interned();
}

void Cluster::eachPod(const std::function<void(const PodPtr&)>& visit) const {
  for (const auto& [uid, pod] : pods_) visit(pod);
}

void Cluster::trialRemove(const PodPtr& pod) {
  displace(pod, true);
}

void Cluster::trialAdd(const PodPtr& pod, Row row) {
  reservations.back(pod, true);
  table.addPod(pod, row, true);
  reservations.rowChanged(row, true);
  for (auto* listener : listeners_) listener->podAdded(*pod, row, true);
}

void Cluster::takeAway(const PodPtr& pod) {
  const Row row = pod->row;
  table.removePod(pod);
  reservations.away(pod, false);
  reservations.rowChanged(row, false);
  for (auto* listener : listeners_) listener->podTakenAway(*pod, row);
}

void Cluster::putBack(const PodPtr& pod, Row row) {
  reservations.back(pod, false);
  table.addPod(pod, row);
  reservations.rowChanged(row, false);
  for (auto* listener : listeners_) listener->podPutBack(*pod, row);
}

void Cluster::nominate(const PodPtr& pod, Interned node) {
  if (renominate(pod, node)) return;
  denominate(pod->pod->meta.uid);
  if (node.empty()) return;
  nominated_[pod->pod->meta.uid] = pod;
  nominatedTo_[pod->pod->meta.uid] = node;
  onNode_[node].push_back(pod);
  noteNominated(node);
}

// Another version of a pod that counts as before: nobody needs to look at the node again. The echo
// of our own nomination is one.
bool Cluster::renominate(const PodPtr& pod, Interned node) {
  const auto at = nominated_.find(pod->pod->meta.uid);
  if (at == nominated_.end() || at->second->cls != pod->cls || pod->granted || at->second->granted)
    return false;
  if (nominatedTo_[at->first] != node) return false;
  auto& there = onNode_[node];
  std::replace(there.begin(), there.end(), at->second, pod);
  at->second = pod;
  return true;
}

void Cluster::noteNominated(Interned node) {
  const Row row = table.find(node.view());
  if (row == kNoRow) return;
  if (row >= nominatedRows_.size()) nominatedRows_.resize(table.rows());
  nominatedRows_[row] = onNode_.contains(node);
  table.touch(row);
}

void Cluster::denominate(const api::Uid& uid) {
  const auto at = nominated_.find(uid);
  if (at == nominated_.end()) return;
  const Interned node = nominatedTo_[uid];
  auto& pods = onNode_[node];
  std::erase(pods, at->second);
  if (pods.empty()) onNode_.erase(node);
  noteNominated(node);
  nominatedTo_.erase(uid);
  nominated_.erase(at);
}

Interned Cluster::nominatedNode(const api::Uid& uid) const {
  const auto at = nominatedTo_.find(uid);
  return at == nominatedTo_.end() ? Interned() : at->second;
}

std::vector<PodPtr> Cluster::nominatedOn(Interned node) const {
  const auto at = onNode_.find(node);
  return at == onNode_.end() ? std::vector<PodPtr>() : at->second;
}

void Cluster::unlisten(ClusterListener& listener) {
  std::erase(listeners_, &listener);
}

}  // namespace mangrove::placement
