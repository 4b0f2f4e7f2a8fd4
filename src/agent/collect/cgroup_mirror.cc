#include "agent/collect/cgroup_mirror.h"

#include <algorithm>
#include <set>

#include "base/os/log.h"

namespace mangrove::agent {
namespace {

const Logger log("agent");

}  // namespace

std::string CgroupMirror::treePath(std::string_view cgroup) const {
  return machine_.trees().path(kernel::Controller::kCpu, cgroup);
}

void CgroupMirror::makeTiers() {
  using kernel::PodTier;
  for (PodTier tier : {PodTier::kGuaranteed, PodTier::kBurstable, PodTier::kBestEffort})
    tiers_.push_back({tier, machine_.layout().tierDir(tier)});
}

void CgroupMirror::restart() {
  for (Tier& tier : tiers_) watch_.remove(tier.watch);
  tiers_.clear();
  for (auto& pod : pods_) pod->listed = false;
  lastFull_ = MonoTime::min();
}

void CgroupMirror::noteEvents() {
  const bool complete = watch_.changed([&](int id) {
    for (Tier& tier : tiers_)
      if (tier.watch == id) tier.listed = false;
    if (auto it = podOfWatch_.find(id); it != podOfWatch_.end()) it->second->listed = false;
  });
  if (complete) return;
  if (watch_.ok()) ++overflows_;
  for (Tier& tier : tiers_) tier.listed = false;
  for (auto& pod : pods_) pod->listed = false;
}

CgroupMirror::Changes CgroupMirror::refresh(MonoTime now, const GoneFn& gone) {
  Changes changes;
  if (tiers_.empty()) makeTiers();
  noteEvents();
  if (lastFull_ == MonoTime::min() || now - lastFull_ >= kRescan) {
    for (Tier& tier : tiers_) tier.listed = false;
    for (auto& pod : pods_) pod->listed = false;
    lastFull_ = now;
  }
  for (Tier& tier : tiers_)
    if (!tier.listed) listTier(tier, changes, gone, now);
  for (auto& pod : pods_)
    if (!pod->listed) listPod(*pod, changes, gone);
  if (changes.podsAdded + changes.containersAdded > 0) unnamed_ = true;
  return changes;
}

// The watch comes first: what is made between the two calls is then seen twice, not never.
void CgroupMirror::listTier(Tier& tier, Changes& changes, const GoneFn& gone, MonoTime now) {
  auto dir = machine_.root().dir(treePath(tier.cgroup));
  std::set<std::string> there, known;
  for (const auto& pod : pods_)
    if (pod->tier == tier.tier) known.insert(pod->id);
  if (dir) {
    // Again each time: a directory that was removed and made anew has no watch any more.
    tier.watch = watch_.add(dir->fd()).value_or(-1);
    auto entries = dir->list();
    if (!entries) return;
    for (const kernel::Entry& entry : *entries) {
      if (!entry.isDir) continue;
      const auto id = machine_.layout().podOf(entry.name);
      if (!id || id->empty()) continue;
      there.insert(tier.cgroup + "/" + entry.name);
      if (known.contains(*id)) continue;
      addPod(tier, entry.name, *id, now);
      ++changes.podsAdded;
    }
    // Without a watch the next tick looks again.
    tier.listed = tier.watch >= 0;
  }
  for (size_t i = pods_.size(); i-- > 0;)
    if (pods_[i]->tier == tier.tier && !there.contains(pods_[i]->meter.cgroup()))
      forget(i, changes, gone);
}

void CgroupMirror::addPod(const Tier& tier, const std::string& name, const std::string& id,
                          MonoTime now) {
  auto pod = std::make_unique<MirroredPod>(
      MirroredPod{id, tier.tier, CgroupMeter(machine_, tier.cgroup + "/" + name), ++serial_});
  pod->since = now;
  pods_.push_back(std::move(pod));
}

void CgroupMirror::forget(size_t index, Changes& changes, const GoneFn& gone) {
  MirroredPod& pod = *pods_[index];
  for (const MirroredContainer& container : pod.containers) {
    ++changes.containersGone;
    gone(pod, &container);
  }
  gone(pod, nullptr);
  ++changes.podsGone;
  if (pod.watch >= 0) {
    podOfWatch_.erase(pod.watch);
    watch_.remove(pod.watch);
  }
  pods_.erase(pods_.begin() + static_cast<long>(index));
}

void CgroupMirror::listPod(MirroredPod& pod, Changes& changes, const GoneFn& gone) {
  auto dir = machine_.root().dir(treePath(pod.meter.cgroup()));
  if (!dir) return;  // its tier's list will drop it
  if (pod.watch >= 0) podOfWatch_.erase(pod.watch);
  pod.watch = watch_.add(dir->fd()).value_or(-1);
  if (pod.watch >= 0) podOfWatch_[pod.watch] = &pod;
  auto entries = dir->list();
  if (!entries) return;
  std::set<std::string> there;
  for (const kernel::Entry& entry : *entries) {
    if (!entry.isDir) continue;
    auto id = machine_.layout().anyContainerOf(entry.name);
    if (!id) continue;
    there.insert(*id);
    const bool known = std::any_of(pod.containers.begin(), pod.containers.end(),
                                   [&](const MirroredContainer& c) { return c.id == *id; });
    if (known) continue;
    pod.containers.push_back(
        {*id, CgroupMeter(machine_, pod.meter.cgroup() + "/" + entry.name), ++serial_});
    ++changes.containersAdded;
  }
  std::erase_if(pod.containers, [&](const MirroredContainer& container) {
    if (there.contains(container.id)) return false;
    ++changes.containersGone;
    gone(pod, &container);
    return true;
  });
  pod.listed = pod.watch >= 0;
}

void CgroupMirror::name(const PodBook& book) {
  if (!unnamed_ && namedVersion_ == book.version()) return;
  for (auto& pod : pods_) {
    pod->pod = book.findByCgroup(pod->id);
    pod->said = pod->pod ? book.saidBy(*pod->pod) : nullptr;
    for (MirroredContainer& container : pod->containers) {
      container.name.clear();
      container.fullId.clear();
      if (!pod->pod) continue;
      for (const auto* list : {&pod->pod->status.containers, &pod->pod->status.initContainers})
        for (const api::ContainerStatus& status : *list) {
          if (status.bareId() != container.id) continue;
          container.name = status.name.str();
          container.fullId = std::string(status.containerId.view());
        }
    }
  }
  namedVersion_ = book.version();
  unnamed_ = false;
}

}  // namespace mangrove::agent
