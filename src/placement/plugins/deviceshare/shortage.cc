#include "placement/plugins/deviceshare/shortage.h"

#include <algorithm>

#include "base/text/strings.h"

namespace mangrove::placement {
namespace {

constexpr int kNumaScope = 2, kPcieScope = 3, kDeviceScope = 4;  // api::topologyScopeLevel

std::string_view scopeWord(int scope) {
  if (scope == kNumaScope) return "one NUMA node";
  if (scope == kPcieScope) return "one switch";
  return scope == kDeviceScope ? "one card" : "one node";
}

// Names without the domain they all share.
std::string amountsText(const Amounts& amounts) {
  std::vector<std::string> parts;
  for (const auto& [name, amount] : amounts) {
    const std::string_view whole = name.view();
    parts.push_back(
        fmt::format("{}={}", whole.substr(whole.find('/') + 1), quantityOf(name, amount).text()));
  }
  std::sort(parts.begin(), parts.end());
  return join(parts, ", ");
}

template <class KeyOf>
size_t mostTogether(const CardRefs& cards, KeyOf keyOf) {
  std::map<std::pair<int, std::string_view>, size_t> groups;
  size_t most = 0;
  for (const Card* card : cards)
    if (card->topology) most = std::max(most, ++groups[keyOf(*card)]);
  return most;
}

std::string together(const CardRefs& cards, int scope) {
  const size_t onSwitch = mostTogether(cards, [](const Card& card) { return card.pcie(); });
  const size_t onNuma = mostTogether(cards, [](const Card& card) {
    return std::pair<int, std::string_view>(card.topology->nodeId, "");
  });
  if (scope == kPcieScope) return fmt::format(", at most {} of them on one switch", onSwitch);
  if (scope == kNumaScope) return fmt::format(", at most {} of them on one NUMA node", onNuma);
  return "";
}

std::string typeText(const DeviceWish& wish, const std::string& type, const Cards& cards) {
  const TypeWish& hint = wish.of(type);
  const auto need = deviceNeed(wish, type, cards);
  if (!need) return fmt::format("{}: no card matches the pod's selector", type);
  CardRefs roomy;
  size_t known = 0, ill = 0, selected = 0;
  for (const Card& card : cards) {
    if (!card.reported) continue;
    ++known;
    ill += card.total.empty();
    const bool matches = !hint.selector || hint.selector->matches(card.labels);
    selected += matches;
    if (matches && hasRoom(card, need->each)) roomy.push_back(&card);
  }
  std::string out =
      fmt::format("{}: needs {} with {} each", type, need->count, amountsText(need->each));
  if (hint.scope > 1) out += fmt::format(" on {}", scopeWord(hint.scope));
  out += fmt::format("; {} of {} have room{}", roomy.size(), known, together(roomy, hint.scope));
  if (hint.selector) out += fmt::format("; {} match the pod's selector", selected);
  if (ill > 0) out += fmt::format("; {} unhealthy", ill);
  return out;
}

}  // namespace

std::string shortageText(const DeviceWish& wish, const NodeDevices& node) {
  std::vector<std::string> parts;
  for (const auto& [type, asked] : wish.request.byType) {
    const auto cards = node.byType.find(type);
    parts.push_back(cards == node.byType.end() ? fmt::format("{}: the node reports none", type)
                                               : typeText(wish, type, cards->second));
  }
  if (wish.samePcie) parts.push_back("all of it at the same switches");
  return join(parts, "; ");
}

}  // namespace mangrove::placement
