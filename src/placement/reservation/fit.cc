#include "placement/reservation/fit.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace mangrove::placement {
namespace {

// The names to compare: the three that always are, and what is asked for.
std::set<Interned> comparedNames(const NodeRoom& node, const Amounts& request) {
  const api::ResourceNames& known = api::resourceNames();
  std::set<Interned> out{known.cpu, known.memory, known.ephemeralStorage};
  for (const auto& [name, amount] : request)
    if (amount != 0) out.insert(name);
  out.erase(known.pods);
  for (Interned name : node.ignored) out.erase(name);
  return out;
}

std::string amountsText(bool wanted, int64_t requested, int64_t used, int64_t capacity) {
  if (!wanted) return "";
  return fmt::format(", requested: {}, used: {}, capacity: {}", requested, used, capacity);
}

// What owners have after a trial of preemption; never less than nothing.
int64_t used(const ReservedRoom& room, Interned name) {
  return std::max<int64_t>(
      0, saturatingDifference(room.allocated.amount(name), room.preemptible.amount(name)));
}

void addPodShortage(const ReservedRoom& room, bool withAmounts, std::vector<std::string>& out) {
  const int64_t* allowed = room.allocatable.find(api::resourceNames().pods);
  if (!allowed || room.owners - room.preemptibleOwners + 1 <= *allowed) return;
  out.push_back("Reservation(s) Too many pods" +
                amountsText(withAmounts, 1, room.owners - room.preemptibleOwners, *allowed));
}

// What the books count twice: the part of the owners that lies within the reservation. An owner of an
// Aligned one may be larger; the rest of it is on the node and nowhere else.
Amounts withinReservation(const ReservedRoom& room) {
  Amounts out = room.allocated;
  out.lowerTo(room.allocatable);
  return out;
}

// One try after the other, and what went wrong in them.
class Trial {
 public:
  Trial(const NodeRoom& node, std::span<const ReservedRoom> matched, const FitAsk& ask)
      : node_(node), matched_(matched), ask_(ask) {
    // Those that stand for matched reservations leave when the pod comes.
    node_.pods -= static_cast<int64_t>(matched.size());
    for (const ReservedRoom& room : matched) released_.add(withinReservation(room));
  }

  FitVerdict run() {
    for (size_t i = 0; i < matched_.size(); ++i)
      if (isConsidered(matched_[i]) && fitsBy(matched_[i])) verdict_.usable.push_back(i);
    verdict_.pass = !verdict_.usable.empty() || (!ask_.mustReserve && fitsAlone());
    if (!verdict_.pass) explain();
    return std::move(verdict_);
  }

 private:
  bool isConsidered(const ReservedRoom& room) const {
    if (!ask_.onlyName.empty()) return room.name == ask_.onlyName;
    return ask_.mustReserve || room.concerns(ask_.request);
  }

  bool fitsNode(Amounts given) {
    given.add(released_);
    auto lacks = shortOnNode(node_, ask_.request, given);
    byNode_.insert(lacks.begin(), lacks.end());
    return lacks.empty();
  }

  // Both are asked, so that the reasons are complete.
  bool fitsBy(const ReservedRoom& room) {
    const bool onNode = fitsNode(room.remaining());
    auto lacks = shortInside(room, ask_.request, !ask_.onlyName.empty());
    inside_.insert(inside_.end(), lacks.begin(), lacks.end());
    return onNode && lacks.empty();
  }

  // With a reservation's remainder the node offered more: what was short then is short now.
  bool fitsAlone() { return byNode_.empty() && fitsNode({}); }

  void explain() {
    verdict_.reasons.assign(byNode_.begin(), byNode_.end());
    if (ask_.mustReserve)
      verdict_.reasons.insert(verdict_.reasons.end(), inside_.begin(), inside_.end());
    std::ranges::sort(verdict_.reasons);
  }

  NodeRoom node_;
  std::span<const ReservedRoom> matched_;
  const FitAsk& ask_;
  Amounts released_;                 // what matched owners hold within their reservations
  std::set<std::string> byNode_;     // once per name
  std::vector<std::string> inside_;  // once per name and reservation
  FitVerdict verdict_;
};

}  // namespace

std::vector<std::string> shortOnNode(const NodeRoom& node, const Amounts& request,
                                     const Amounts& given) {
  std::vector<std::string> out;
  if (node.pods + 1 > node.allowedPods) out.emplace_back("Too many pods by node");
  Amounts free = node.allocatable;
  free.subtract(node.requested);
  free.add(node.preemptible);
  free.add(given);
  for (Interned name : comparedNames(node, request))
    if (request.amount(name) > free.amount(name))
      out.push_back(fmt::format("Insufficient {} by node", name.view()));
  return out;
}

std::vector<std::string> shortInside(const ReservedRoom& room, const Amounts& request,
                                     bool withAmounts) {
  std::vector<std::string> out;
  if (room.policy != AllocatePolicy::kRestricted) return out;
  addPodShortage(room, withAmounts, out);
  for (const auto& [name, reserved] : room.counted) {
    const int64_t asked = request.amount(name);
    const int64_t capacity = saturatingDifference(reserved, room.inner.amount(name));
    if (asked == 0 || name == api::resourceNames().pods) continue;
    if (asked <= saturatingDifference(capacity, used(room, name))) continue;
    out.push_back(fmt::format("Reservation(s) Insufficient {}", name.view()) +
                  amountsText(withAmounts, asked, used(room, name), capacity));
  }
  return out;
}

FitVerdict fitReserved(const NodeRoom& node, std::span<const ReservedRoom> matched,
                       const FitAsk& ask) {
  return Trial(node, matched, ask).run();
}

}  // namespace mangrove::placement
