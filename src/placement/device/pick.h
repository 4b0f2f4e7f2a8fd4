#pragma once
// One card among several: whether it has room, which is the better one, and taking as many as are
// wanted in order. The steps of the allocator (allocate.h) share these.
//
// Pure functions, any thread. Picks point into the NodeDevices they were made from.

#include <set>

#include <tl/expected.hpp>

#include "placement/device/cards.h"
#include "placement/device/wish.h"

namespace mangrove::placement {

struct DevicePick {
  const Card* card = nullptr;
  Amounts resources;
  std::optional<api::VirtualFunction> function;
  std::string sharedTemplate;
};

struct DeviceShortage {
  std::string reason;
  bool unresolvable = false;  // taking pods away would not help
};
using DevicePicks = std::vector<DevicePick>;
using Picked = tl::expected<DevicePicks, DeviceShortage>;
inline auto shortOf(std::string reason, bool unresolvable = false) {
  return tl::unexpected(DeviceShortage{std::move(reason), unresolvable});
}

enum class CardOrder { kByMinor, kLeastAllocated, kMostAllocated };
using CardWeights = std::vector<std::pair<Interned, int64_t>>;
// Which of two cards is the better one.
struct CardScorer {
  CardOrder order = CardOrder::kByMinor;
  const CardWeights* weights = nullptr;  // by resource; null: evenCardWeights()
};
const CardWeights& evenCardWeights();  // memory (both spellings), rdma and fpga, 1 each

// Compares the amounts asked for with what is free; a name the card does not count in is not
// tested. A card with nothing free has no room for anything.
bool hasRoom(const Card& card, const Amounts& each);
// 0..100, the mean over the resources with a weight as far as the card has them; 0 when cards are
// taken by minor.
int64_t scoreOf(const Card& card, const Amounts& each, CardScorer scorer);
// The same for anything that has a total and a part of it in use: all cards of a node together.
int64_t scoreOf(const Amounts& total, const Amounts& used, const Amounts& asked, CardScorer scorer);
// The amounts with memory filled in from its percent, or the percent (rounded down) from memory.
Amounts completed(const Card& card, const Amounts& each);
DevicePick pickOf(const Card& card, const Amounts& each);

using PcieSet = std::set<std::pair<int, std::string_view>>;
struct PickRules {
  int64_t atLeast = 1;
  int64_t atMost = 1;
  CardScorer scorer = {};
  const api::Selector* vfSelector = nullptr;
  PcieSet preferred;  // one card of each of these switches, then the second of each, then the rest
};
// Cards with room, best first. With a selector each brings its first free virtual function (by bus
// id) or is passed over.
Picked pickCards(std::string_view type, const CardRefs& cards, const Amounts& each,
                 const PickRules& rules);

}  // namespace mangrove::placement
