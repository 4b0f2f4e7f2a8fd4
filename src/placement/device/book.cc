#include "placement/device/book.h"

#include <algorithm>

namespace mangrove::placement {
namespace {

const HeldCard* sameCard(const HeldDevices& all, const HeldCard& card) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const HeldCard& other) {
    return other.minor == card.minor && other.type == card.type;
  });
  return at == all.end() ? nullptr : &*at;
}

void giveBack(Card& card, const HeldCard& held) {
  card.used.subtract(held.amounts);
  card.used.dropZeros();
  for (const std::string& busId : held.functions)
    if (auto at = card.heldFunctions.find(busId);
        at != card.heldFunctions.end() && --at->second == 0)
      card.heldFunctions.erase(at);
}

void take(Card& card, const HeldCard& held) {
  card.used.add(held.amounts);
  for (const std::string& busId : held.functions) ++card.heldFunctions[busId];
}

// Nobody knows of it any more.
void dropStale(Cards& cards) {
  std::erase_if(cards, [](const Card& card) {
    return !card.reported && !card.inUse() && card.heldFunctions.empty();
  });
}

// What more is given away of than there is; "" when the card is in order. An ill card has nothing
// to give, which is no quarrel.
std::string overOf(const Card& card) {
  for (const auto& [name, amount] : card.total)
    if (card.used.amount(name) > amount) return name.str();
  for (const auto& [busId, times] : card.heldFunctions)
    if (times > 1) return busId;
  return "";
}

}  // namespace

HeldDevices heldOf(const api::DeviceAllocations& allocations) {
  HeldDevices out;
  for (const auto& [type, list] : allocations)
    for (const api::DeviceAllocation& one : list) {
      HeldCard card{type, one.minor, amountsOf(one.resources), {}};
      card.amounts.dropZeros();
      if (one.extension)
        for (const auto& function : one.extension->vfs) card.functions.push_back(function.busId);
      out.push_back(std::move(card));
    }
  return out;
}

HeldDevices remainder(HeldDevices all, const HeldDevices& spent) {
  for (HeldCard& card : all)
    if (const HeldCard* used = sameCard(spent, card)) {
      card.amounts.subtract(used->amounts);
      card.amounts.holdAboveZero();
      card.amounts.dropZeros();
      std::erase_if(card.functions, [&](const std::string& busId) {
        return std::find(used->functions.begin(), used->functions.end(), busId) !=
               used->functions.end();
      });
    }
  return all;
}

NodeDevices onlyOf(const NodeDevices& node, const HeldDevices& cards, bool capped) {
  NodeDevices out = node;
  for (auto& [type, list] : out.byType)
    for (Card& card : list) {
      const HeldCard* held = sameCard(cards, {type, card.minor, {}, {}});
      if (!held) {
        card.total.clear();
        continue;
      }
      if (!capped) continue;
      Amounts limit = card.used;
      limit.add(held->amounts);
      card.total.lowerTo(limit);
    }
  return out;
}

Result<> DeviceBook::report(const api::Device* device, const api::Labels& node) {
  if (!device) {
    for (auto& [type, cards] : devices_.byType)
      for (Card& card : cards) card.total.clear();
    return {};
  }
  auto fresh = nodeDevices(*device, node, {});
  if (!fresh) return pass(fresh.error());
  devices_ = std::move(*fresh);
  reported_ = true;
  for (const auto& [holder, holding] : holdings_) book(holding.booked, +1);
  return {};
}

void DeviceBook::book(const HeldDevices& devices, int sign) {
  for (const HeldCard& held : devices) {
    Card& card = cardOf(devices_, held.type, held.minor);
    sign > 0 ? take(card, held) : giveBack(card, held);
    if (sign < 0) dropStale(devices_.byType.find(held.type)->second);
  }
}

void DeviceBook::settleOne(const api::Uid& holder) {
  const auto at = holdings_.find(holder);
  if (at == holdings_.end()) return;
  Holding& holding = at->second;
  HeldDevices now;
  if (!holding.suspended) now = left(holder);
  if (now == holding.booked) return;
  book(holding.booked, -1);
  holding.booked = std::move(now);
  book(holding.booked, +1);
}

void DeviceBook::settle(const api::Uid& holder) {
  settleOne(holder);
  const auto at = holdings_.find(holder);
  if (at != holdings_.end() && !at->second.lender.empty()) settleOne(at->second.lender);
}

HeldDevices DeviceBook::left(const api::Uid& lender) const {
  const auto at = holdings_.find(lender);
  if (at == holdings_.end()) return {};
  HeldDevices out = at->second.devices;
  for (const auto& [uid, holding] : holdings_)
    if (holding.lender == lender && !holding.suspended)
      out = remainder(std::move(out), holding.devices);
  std::erase_if(
      out, [](const HeldCard& card) { return card.amounts.empty() && card.functions.empty(); });
  return out;
}

void DeviceBook::hold(const api::Uid& holder, HeldDevices devices, const api::Uid& lender) {
  release(holder);
  Holding& holding = holdings_[holder];
  holding.devices = std::move(devices);
  holding.lender = lender;
  settle(holder);
}

void DeviceBook::release(const api::Uid& holder) {
  const auto at = holdings_.find(holder);
  if (at == holdings_.end()) return;
  const Holding gone = std::move(at->second);
  holdings_.erase(at);
  book(gone.booked, -1);
  if (!gone.lender.empty()) settleOne(gone.lender);
}

void DeviceBook::suspend(const api::Uid& holder) {
  const auto at = holdings_.find(holder);
  if (at == holdings_.end()) return;
  at->second.suspended = true;
  settle(holder);
}

void DeviceBook::resume(const api::Uid& holder) {
  const auto at = holdings_.find(holder);
  if (at == holdings_.end()) return;
  at->second.suspended = false;
  settle(holder);
}

const HeldDevices* DeviceBook::find(const api::Uid& holder) const {
  const auto at = holdings_.find(holder);
  return at == holdings_.end() ? nullptr : &at->second.devices;
}

bool DeviceBook::isSuspended(const api::Uid& holder) const {
  const auto at = holdings_.find(holder);
  return at != holdings_.end() && at->second.suspended;
}

std::vector<api::Uid> DeviceBook::holdersOf(std::string_view type, int32_t minor) const {
  std::vector<api::Uid> out;
  for (const auto& [uid, holding] : holdings_)
    if (sameCard(holding.booked, {std::string(type), minor, {}, {}})) out.push_back(uid);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<DeviceQuarrel> DeviceBook::quarrels() const {
  std::vector<DeviceQuarrel> out;
  for (const auto& [type, cards] : devices_.byType)
    for (const Card& card : cards)
      if (std::string over = overOf(card); !over.empty())
        out.push_back({type, card.minor, std::move(over), holdersOf(type, card.minor)});
  return out;
}

}  // namespace mangrove::placement
