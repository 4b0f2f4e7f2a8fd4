#include "placement/device/pick.h"

#include <algorithm>

namespace mangrove::placement {
namespace {

int64_t scoreOfOne(int64_t capacity, int64_t asked, CardOrder order) {
  if (asked > capacity) return 0;
  const int64_t counted = order == CardOrder::kLeastAllocated ? capacity - asked : asked;
  return counted * 100 / capacity;
}

const api::VirtualFunction* freeFunction(const Card& card, const api::Selector& selector) {
  const api::VirtualFunction* best = nullptr;
  for (const api::VirtualFunctionGroup& group : card.vfGroups) {
    if (!selector.matches(group.labels)) continue;
    for (const api::VirtualFunction& one : group.vfs)
      if (!card.heldFunctions.contains(one.busId) && (!best || one.busId < best->busId))
        best = &one;
  }
  return best;
}

struct Ranked {
  const Card* card;
  int64_t score;
  int64_t round = 0;  // which card of its preferred switch; the rest comes last
};

std::vector<Ranked> ranked(const CardRefs& cards, const Amounts& each, const PickRules& rules) {
  std::vector<Ranked> out;
  for (const Card* card : cards) out.push_back({card, scoreOf(*card, each, rules.scorer)});
  std::stable_sort(out.begin(), out.end(),
                   [](const Ranked& a, const Ranked& b) { return a.score > b.score; });
  std::map<std::pair<int, std::string_view>, int64_t> seen;
  for (Ranked& one : out) {
    const bool preferred = one.card->topology && rules.preferred.contains(one.card->pcie());
    one.round = preferred ? seen[one.card->pcie()]++ : static_cast<int64_t>(cards.size());
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Ranked& a, const Ranked& b) { return a.round < b.round; });
  return out;
}

// A share given in percent takes bytes too: those who ask in bytes draw on the same ones, and their
// percent is rounded down.
bool hasBytes(const Card& card, const Amounts& each) {
  const DeviceNames& names = deviceNames();
  const int64_t* ratio = each.find(names.ratio);
  if (!ratio || each.has(names.memory)) return true;
  const int64_t total = card.total.amount(names.memory);
  return *ratio * total / 100 <= total - card.used.amount(names.memory);
}

}  // namespace

bool hasRoom(const Card& card, const Amounts& each) {
  bool any = false;
  for (const Amounts::Entry& have : card.total) {
    const int64_t left =
        std::max<int64_t>(0, saturatingDifference(have.amount, card.used.amount(have.name)));
    any = any || left > 0;
    const int64_t* asked = each.find(have.name);
    if (asked && *asked > left) return false;
  }
  return any && hasBytes(card, each);
}

const CardWeights& evenCardWeights() {
  static const CardWeights kEven = [] {
    const DeviceNames& names = deviceNames();
    return CardWeights{{names.ratio, 1}, {names.memory, 1}, {names.rdma, 1}, {names.fpga, 1}};
  }();
  return kEven;
}

int64_t scoreOf(const Card& card, const Amounts& each, CardScorer scorer) {
  return scoreOf(card.total, card.used, each, scorer);
}

int64_t scoreOf(const Amounts& total, const Amounts& used, const Amounts& asked,
                CardScorer scorer) {
  if (scorer.order == CardOrder::kByMinor) return 0;
  int64_t sum = 0, weights = 0;
  for (const auto& [name, weight] : scorer.weights ? *scorer.weights : evenCardWeights()) {
    const int64_t capacity = total.amount(name);
    if (capacity == 0) continue;
    const int64_t then = saturatingSum(used.amount(name), asked.amount(name));
    sum += weight * scoreOfOne(capacity, then, scorer.order);
    weights += weight;
  }
  return weights == 0 ? 0 : sum / weights;
}

Amounts completed(const Card& card, const Amounts& each) {
  const DeviceNames& names = deviceNames();
  Amounts out = each;
  const int64_t total = card.total.amount(names.memory);
  if (total == 0) return out;
  if (each.has(names.ratio) && !each.has(names.memory))
    out.set(names.memory, each.amount(names.ratio) * total / 100);
  if (each.has(names.memory) && !each.has(names.ratio))
    out.set(names.ratio, 100 * each.amount(names.memory) / total);
  return out;
}

DevicePick pickOf(const Card& card, const Amounts& each) {
  return {&card, completed(card, each), std::nullopt, {}};
}

Picked pickCards(std::string_view type, const CardRefs& cards, const Amounts& each,
                 const PickRules& rules) {
  DevicePicks out;
  for (const Ranked& one : ranked(cards, each, rules)) {
    if (static_cast<int64_t>(out.size()) >= rules.atMost) break;
    if (!hasRoom(*one.card, each)) continue;
    DevicePick pick = pickOf(*one.card, each);
    if (rules.vfSelector) {
      const api::VirtualFunction* function = freeFunction(*one.card, *rules.vfSelector);
      if (!function) continue;
      pick.function = *function;
    }
    out.push_back(std::move(pick));
  }
  if (static_cast<int64_t>(out.size()) < rules.atLeast)
    return shortOf(fmt::format("Insufficient {} devices", type));
  return out;
}

}  // namespace mangrove::placement
