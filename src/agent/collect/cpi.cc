#include "agent/collect/cpi.h"

#include <algorithm>

namespace mangrove::agent {

void CpiMeter::tick(MonoTime now, const CgroupMirror& mirror) {
  if (!machine_.can().has(kernel::Feature::kPerfCounters)) return;
  readWatched(now, mirror);
  if (!open_.empty()) {
    if (now - openedAt_ >= window_) readAndClose(now);
    return;
  }
  if (next_ != MonoTime::min() && now < next_) return;
  next_ = now + interval_;
  openedAt_ = now;
  open(mirror);
}

void CpiMeter::open(const CgroupMirror& mirror) {
  const CpuSet& cpus = machine_.cpus().online;
  const size_t most =
      kMostDescriptors / (kernel::kMostPerfEvents * std::max<size_t>(cpus.size(), 1));
  bool full = false;
  std::map<std::string_view, const MirroredContainer*> wanted;
  for (const auto& pod : mirror.pods())
    for (const MirroredContainer& container : pod->containers)
      wanted.emplace(container.id, &container);
  for (auto it = wanted.upper_bound(resumeAfter_); it != wanted.end(); ++it) {
    if ((full = open_.size() >= most)) break;
    const MirroredContainer& container = *it->second;
    if (auto group = openOne(container)) open_.emplace(container.id, *std::move(group));
    resumeAfter_ = container.id;
  }
  if (!full) resumeAfter_.clear();
}

std::optional<kernel::PerfGroup> CpiMeter::openOne(const MirroredContainer& container) {
  const auto dir = machine_.root().dir(
      machine_.trees().path(kernel::Controller::kPerfEvent, container.meter.cgroup()));
  if (!dir) return std::nullopt;
  auto group = kernel::PerfGroup::open(dir->fd(), machine_.cpus().online, extras_);
  if (!group) ++failures_;
  return group ? std::optional(*std::move(group)) : std::nullopt;
}

void CpiMeter::readAndClose(MonoTime now) {
  counts_.clear();
  bool anyCounted = false, anyStarved = false;
  for (const auto& [id, group] : open_) {
    auto counts = group.read();
    if (!counts) {
      ++failures_;
      continue;
    }
    counts->window = now - openedAt_;
    anyCounted |= counts->counted > 0;
    anyStarved |= counts->counted <= 0;
    counts_.emplace(id, *counts);
  }
  if (anyStarved && !anyCounted) extras_ = kernel::PerfExtras::kNone;
  open_.clear();
}

void CpiMeter::readWatched(MonoTime now, const CgroupMirror& mirror) {
  std::erase_if(running_, [&](const auto& one) { return watched_.count(one.first) == 0; });
  if (watched_.empty()) return;
  for (auto& [id, one] : running_) {
    one.lately.reset();
    auto sum = one.group.read();
    if (!sum) continue;
    sum->window = now - one.opened;
    if (one.sum) one.lately = *sum - *one.sum;
    one.sum = *sum;
  }
  for (const auto& pod : mirror.pods())
    for (const MirroredContainer& container : pod->containers) {
      if (watched_.count(container.id) == 0 || running_.count(container.id) != 0) continue;
      if (auto group = openOne(container))
        running_.emplace(container.id, Watched{*std::move(group), now});
    }
}

std::optional<kernel::PerfCounts> CpiMeter::lately(std::string_view container) const {
  const auto it = running_.find(container);
  return it == running_.end() ? std::nullopt : it->second.lately;
}

std::optional<kernel::PerfCounts> CpiMeter::find(std::string_view container) const {
  auto it = counts_.find(container);
  return it == counts_.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace mangrove::agent
