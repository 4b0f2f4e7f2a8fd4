// The decision about one node, apart from everything that keeps state.
#include <algorithm>
#include <bit>

#include "api/wire/names.h"
#include "placement/plugins/deviceshare/device_share.h"

namespace mangrove::placement {
namespace {

// Score of a set of NUMA nodes that gives the same cards as the whole node would.
constexpr int64_t kSameAsUnlimited = 500;

std::string_view labelOr(const api::Labels& labels, std::string_view key) {
  return labels.get(key).value_or("");
}

const Card* findCard(const NodeDevices& node, const HeldCard& held) {
  const auto cards = node.byType.find(held.type);
  if (cards == node.byType.end()) return nullptr;
  for (const Card& card : cards->second)
    if (card.minor == held.minor) return &card;
  return nullptr;
}

// Exactly what the pod names, as long as it is still to be had.
DeviceDecision takeDesignated(const api::DeviceAllocations& wanted, const NodeDevices& node) {
  for (const HeldCard& held : heldOf(wanted)) {
    const Card* card = findCard(node, held);
    const bool free =
        card && card->reported && hasRoom(*card, held.amounts) &&
        std::none_of(held.functions.begin(), held.functions.end(),
                     [&](const auto& one) { return card->heldFunctions.contains(one); });
    if (!free)
      return shortOf(fmt::format("node(s) designated {} {} is not free", held.type, held.minor));
  }
  return DeviceChoice{wanted, {}};
}

DeviceDecision decided(AllocatedDevices got, const api::Uid& lender = {}) {
  if (!got) return tl::unexpected(std::move(got.error()));
  return DeviceChoice{annotationOf(*got), lender};
}

// From the reservations that the pod may use, the first that can; nullopt: from the node.
std::optional<DeviceDecision> takeLent(const DeviceQuestion& q) {
  bool required = false;
  for (const DeviceLoan& loan : q.loans) {
    required = required || loan.required;
    const NodeDevices lent = onlyOf(q.book.devices(), q.book.left(loan.lender), loan.restricted);
    if (auto got = allocateDevices(lent, q.pod.wish, q.terms))
      return decided(std::move(got), loan.lender);
  }
  if (!required) return std::nullopt;
  // An aligned reservation may be filled up with cards of the node.
  for (const DeviceLoan& loan : q.loans)
    if (!loan.restricted)
      return decided(allocateDevices(q.book.devices(), q.pod.wish, q.terms), loan.lender);
  return shortOf("Reservation(s) Insufficient devices");
}

AllocationTerms limitedTo(const AllocationTerms& terms, NumaMask mask) {
  AllocationTerms out = terms;
  out.numaNodes = nodesIn(mask);
  return out;
}

bool sameCards(const DevicePicksByType& a, const DevicePicksByType& b) {
  return annotationOf(a) == annotationOf(b);
}

}  // namespace

std::optional<DeviceShortage> unfitFor(const DevicePlan& pod, const api::Labels& node,
                                       const DeviceShareArgs& args) {
  const bool shares = pod.wish.request.gpu && pod.wish.request.gpu->shared;
  if (!shares) return std::nullopt;
  if (!pod.isolation.empty() &&
      labelOr(node, api::label::kGpuIsolationProvider) != pod.isolation.view())
    return DeviceShortage{
        fmt::format("node(s) GPU isolation provider is not {}", pod.isolation.view()), true};
  const GpuModel here{std::string(labelOr(node, api::label::kGpuVendor)),
                      std::string(labelOr(node, api::label::kGpuModel))};
  if (std::find(args.unshareable.begin(), args.unshareable.end(), here) != args.unshareable.end())
    return DeviceShortage{fmt::format("node(s) GPU model {} is not shared", here.model), true};
  return std::nullopt;
}

DeviceDecision chooseDevices(const DeviceQuestion& q) {
  if (q.pod.designated) return takeDesignated(*q.pod.designated, q.book.devices());
  if (!q.loans.empty())
    if (auto lent = takeLent(q)) return *lent;
  return decided(allocateDevices(q.book.devices(), q.pod.wish, q.terms));
}

int64_t scoreDevices(const DevicePlan& pod, const NodeDevices& node, CardScorer scorer) {
  int64_t sum = 0;
  for (const auto& [type, asked] : pod.wish.request.byType) {
    const auto cards = node.byType.find(type);
    if (cards == node.byType.end()) continue;
    Amounts total, used, want = asked;
    const Card* sample = nullptr;
    for (const Card& card : cards->second) {
      if (card.total.empty()) continue;
      total.add(card.total);
      used.add(card.used);
      sample = &card;
    }
    if (!sample) continue;
    // The whole request, with the spelling of memory that it leaves out.
    if (type == device_type::kGpu) want = completed(*sample, asked);
    sum += scoreOf(total, used, want, scorer);
  }
  return sum;
}

HintMap deviceHints(const DevicePlan& pod, const NodeDevices& node, const std::vector<int>& nodes,
                    const AllocationTerms& terms) {
  HintMap out;
  const AllocatedDevices best = allocateDevices(node, pod.wish, terms);
  std::vector<NumaHint> hints;
  for (NumaMask mask : numaSubsets(nodes)) {
    const AllocatedDevices got = allocateDevices(node, pod.wish, limitedTo(terms, mask));
    if (!got) continue;
    const bool smallest =
        hints.empty() || std::popcount(mask) == std::popcount(*hints.front().mask);
    hints.push_back({mask, smallest, best && sameCards(*best, *got) ? kSameAsUnlimited : 0, false});
  }
  // Cards that no NUMA node is known of fit anywhere, or nowhere if a policy insists.
  if (hints.empty() && best) {
    const NumaMask all = maskOf(nodes);
    hints.push_back({all, std::popcount(all) == 1, 0, false});
  }
  for (const auto& [type, asked] : pod.wish.request.byType) out.emplace(type, hints);
  return out;
}

}  // namespace mangrove::placement
