#include "agent/collect/cpi.h"

#include <algorithm>

namespace mangrove::agent {

void CpiMeter::tick(MonoTime now, const CgroupMirror& mirror) {
  if (!machine_.can().has(kernel::Feature::kPerfCounters)) return;
  if (!open_.empty()) {
    if (now - openedAt_ >= window_) readAndClose();
    return;
  }
  if (next_ != MonoTime::min() && now < next_) return;
  next_ = now + interval_;
  openedAt_ = now;
  open(mirror);
}

void CpiMeter::open(const CgroupMirror& mirror) {
  const CpuSet& cpus = machine_.cpus().online;
  const size_t most = kMostDescriptors / (2 * std::max<size_t>(cpus.size(), 1));
  bool full = false;
  std::map<std::string_view, const MirroredContainer*> wanted;
  for (const auto& pod : mirror.pods())
    for (const MirroredContainer& container : pod->containers)
      wanted.emplace(container.id, &container);
  for (auto it = wanted.upper_bound(resumeAfter_); it != wanted.end(); ++it) {
    if ((full = open_.size() >= most)) break;
    const MirroredContainer& container = *it->second;
    const auto dir = machine_.root().dir(
        machine_.trees().path(kernel::Controller::kPerfEvent, container.meter.cgroup()));
    if (!dir) continue;
    auto group = kernel::PerfGroup::open(dir->fd(), cpus);
    if (group)
      open_.emplace(container.id, *std::move(group));
    else
      ++failures_;
    resumeAfter_ = container.id;
  }
  if (!full) resumeAfter_.clear();
}

void CpiMeter::readAndClose() {
  counts_.clear();
  for (const auto& [id, group] : open_) {
    auto counts = group.read();
    if (counts)
      counts_.emplace(id, *counts);
    else
      ++failures_;
  }
  open_.clear();
}

std::optional<kernel::PerfCounts> CpiMeter::find(std::string_view container) const {
  auto it = counts_.find(container);
  return it == counts_.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace mangrove::agent
