#include "descheduler/load/usage_history.h"

#include <algorithm>

namespace mangrove::descheduler {
namespace {

void raise(Loads& to, const Loads& seen) {
  if (to.size() < seen.size()) to.resize(seen.size());
  for (size_t i = 0; i < seen.size(); ++i) to[i] = std::max(to[i], seen[i]);
}

}  // namespace

// Slots between the last look and this one hold nothing.
void UsageHistory::note(Peaks& peaks, int64_t slot, const Loads& usage) {
  const int64_t passed = std::min(slot - peaks.slot, kSlots);
  for (int64_t i = 0; i < passed; ++i) peaks.highest[(slot - i) % kSlots].clear();
  peaks.slot = slot;
  raise(peaks.highest[slot % kSlots], usage);
}

Loads UsageHistory::peakOf(const Peaks& peaks) {
  Loads out;
  for (const Loads& one : peaks.highest) raise(out, one);
  return out;
}

void UsageHistory::observe(std::vector<NodeLoad>& nodes, MonoTime now) {
  const int64_t slot = now.time_since_epoch() / kSlot;
  for (NodeLoad& node : nodes) {
    for (PodLoad& pod : node.pods) {
      if (!pod.isMeasured) continue;
      Peaks& peaks = pods_[pod.pod->meta.uid];
      note(peaks, slot, pod.usage);
      pod.expected = peakOf(peaks);
    }
  }
  if (slot == swept_) return;
  swept_ = slot;
  std::erase_if(pods_, [&](const auto& one) { return one.second.slot + kSlots <= slot; });
}

}  // namespace mangrove::descheduler
