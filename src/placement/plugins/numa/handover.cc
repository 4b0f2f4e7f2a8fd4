#include "placement/plugins/numa/handover.h"

#include <algorithm>

namespace mangrove::placement {

NumaAllocation differenceOf(const NumaAllocation& whole, const NumaAllocation& part) {
  NumaAllocation out = whole;
  out.cpus = out.cpus - part.cpus;
  for (auto& [zone, amounts] : out.perNode) {
    const auto taken = part.perNode.find(zone);
    if (taken == part.perNode.end()) continue;
    for (auto& [name, amount] : amounts)
      if (const auto less = taken->second.find(name); less != taken->second.end())
        amount = std::max<int64_t>(0, amount - less->second);
  }
  return out;
}

OnlyThese::OnlyThese(NumaNode& node, const NumaAllocation& kept) : node_(node), uid_("only-these") {
  const NumaState& state = node.state();
  NumaAllocation others;
  if (!kept.cpus.empty()) others.cpus = state.books.available(state.reserved) - kept.cpus;
  if (!kept.perNode.empty())
    for (int zone : node.nodes()) others.perNode[zone] = availableOn(state, {}, zone);
  node_.hold(uid_, {differenceOf(others, kept), Exclusive::kNone});
}

OnlyThese::~OnlyThese() {
  node_.release(uid_);
}

void reshare(NumaNode& node, const ReservationEntry& entry) {
  const NumaHolding* whole = node.whole(entry.uid);
  if (!whole) return;
  NumaHolding left = *whole;
  for (const auto& [uid, owner] : entry.owners)
    if (const NumaHolding* got = owner.away ? nullptr : node.find(uid))
      left.allocation = differenceOf(left.allocation, got->allocation);
  node.keepOfWhole(entry.uid, std::move(left));
}

}  // namespace mangrove::placement
