#include "placement/device/allocate.h"

#include <algorithm>

#include "placement/device/partitions.h"
#include "placement/device/scopes.h"

namespace mangrove::placement {
namespace {

using Need = DeviceNeed;

std::string insufficient(std::string_view type, std::string_view what) {
  return fmt::format("Insufficient {} {}", type, what);
}

bool selects(const std::optional<api::Selector>& selector, const Card& card) {
  return !selector || selector->matches(card.labels);
}

bool onNuma(const Card& card, const std::vector<int>& nodes) {
  if (!card.topology) return false;
  const int node = card.topology->nodeId;
  return node == -1 || std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

PcieSet switchesOf(const DevicePicks& picks) {
  PcieSet out;
  for (const DevicePick& pick : picks)
    if (pick.card->topology) out.insert(pick.card->pcie());
  return out;
}

bool allPlaced(const Cards& cards) {
  return std::all_of(cards.begin(), cards.end(),
                     [](const Card& card) { return !card.reported || card.topology; });
}

class DeviceAllocator {
 public:
  DeviceAllocator(const NodeDevices& node, const DeviceWish& wish, const AllocationTerms& terms)
      : node_(node), wish_(wish), terms_(terms) {}

  AllocatedDevices run() {
    if (auto shortage = collectNeeds()) return tl::unexpected(*shortage);
    if (auto shortage = allocateJointly()) return tl::unexpected(*shortage);
    for (const auto& [type, need] : needs_) {
      if (out_.contains(type)) continue;
      if (auto shortage = keep(type, allocate(type, need, exactly(type, need.count))))
        return tl::unexpected(*shortage);
    }
    return std::move(out_);
  }

 private:
  using Trouble = std::optional<DeviceShortage>;

  Trouble collectNeeds() {
    for (const auto& [type, asked] : wish_.request.byType) {
      const auto at = node_.byType.find(type);
      const bool any =
          at != node_.byType.end() && std::any_of(at->second.begin(), at->second.end(),
                                                  [](const Card& card) { return card.reported; });
      if (!any) return DeviceShortage{insufficient(type, "devices"), true};
      if (wish_.of(type).vfSelector && !hasFunctions(at->second))
        return DeviceShortage{insufficient(type, "VirtualFunctions"), true};
      auto need = deviceNeed(wish_, type, at->second);
      if (!need) return need.error();
      needs_.emplace(type, std::move(*need));
    }
    return std::nullopt;
  }

  static bool hasFunctions(const Cards& cards) {
    return std::any_of(cards.begin(), cards.end(),
                       [](const Card& card) { return !card.vfGroups.empty(); });
  }

  // The types wanted together: the first is served as if alone, the others at its switches.
  Trouble allocateJointly() {
    if (needs_.size() < 2) return std::nullopt;
    const DevicePicks* lead = nullptr;
    for (const std::string& type : wish_.jointTypes) {
      const auto at = needs_.find(type);
      if (at == needs_.end() || wish_.of(type).count == CardCount::kForAll || out_.contains(type))
        continue;
      const Need& need = at->second;
      auto trouble = lead ? follow(type, need, switchesOf(*lead))
                          : keep(type, allocate(type, need, exactly(type, need.count)));
      if (trouble) return trouble;
      if (!lead) lead = &out_.find(type)->second;
    }
    return std::nullopt;
  }

  Trouble follow(const std::string& type, const Need& need, const PcieSet& switches) {
    PickRules rules = exactly(type, need.count);
    rules.atMost = std::max(need.count, static_cast<int64_t>(switches.size()));
    if (wish_.samePcie) rules.atLeast = rules.atMost;
    rules.preferred = switches;
    Picked got = allocate(type, need, rules);
    if (got && wish_.samePcie && switchesOf(*got) != switches)
      return DeviceShortage{"Device Joint-Allocate rules violation"};
    return keep(type, std::move(got));
  }

  CardScorer scorer() const { return {terms_.order, terms_.weights}; }

  PickRules exactly(const std::string& type, int64_t count) const {
    const TypeWish& hint = wish_.of(type);
    return {count, count, scorer(), hint.vfSelector ? &*hint.vfSelector : nullptr, {}};
  }

  Trouble keep(const std::string& type, Picked got) {
    if (!got) return std::move(got.error());
    std::sort(got->begin(), got->end(), [](const DevicePick& a, const DevicePick& b) {
      return a.card->minor < b.card->minor;
    });
    out_.emplace(type, std::move(*got));
    return std::nullopt;
  }

  CardRefs visible(const std::string& type, const Cards& cards) const {
    const TypeWish& hint = wish_.of(type);
    PcieSet busy;
    for (const Card& card : cards)
      if (hint.ownSwitch && card.topology && card.inUse()) busy.insert(card.pcie());
    CardRefs out;
    for (const Card& card : cards) {
      if (terms_.numaNodes && !onNuma(card, *terms_.numaNodes)) continue;
      if (!card.reported || !selects(hint.selector, card)) continue;
      if (!card.topology || !busy.contains(card.pcie())) out.push_back(&card);
    }
    return out;
  }

  Picked allocate(const std::string& type, const Need& need, const PickRules& rules) const {
    const Cards& cards = node_.byType.find(type)->second;
    const CardRefs seen = visible(type, cards);
    if (type == device_type::kGpu) return allocateGpus(cards, seen, need, rules);
    return pickCards(type, seen, need.each, rules);
  }

  Picked allocateGpus(const Cards& cards, const CardRefs& seen, const Need& need,
                      const PickRules& rules) const {
    const auto cut = sharedTemplate(need.each);
    if (!cut) return tl::unexpected(cut.error());
    std::optional<Picked> decided = partitioned(cards, seen, need);
    Picked got = decided ? std::move(*decided) : general(cards, seen, need, rules);
    if (got)
      for (DevicePick& pick : *got) pick.sharedTemplate = *cut;
    return got;
  }

  // The name of the one template the request is; empty where none is asked for, or several fit.
  tl::expected<std::string, DeviceShortage> sharedTemplate(const Amounts& each) const {
    const GpuTemplates* all = terms_.templates;
    if (!all || !wish_.request.gpu->shared ||
        std::none_of(all->matched.begin(), all->matched.end(),
                     [&](Interned name) { return each.has(name); }))
      return std::string();
    std::vector<std::string> names;
    if (const auto at = all->byModel.find(node_.gpuModel); at != all->byModel.end())
      for (const auto& [name, amounts] : at->second)
        if (amounts.equalAmounts(each)) names.push_back(name);
    if (names.empty())
      return shortOf(fmt::format("node(s) No template of {} is {}", node_.gpuModel, textOf(each)),
                     true);
    return names.size() == 1 ? names.front() : std::string();
  }

  // Nothing where partitions do not decide: there are none, a share needs none, or none is left
  // and neither pod nor node insists.
  std::optional<Picked> partitioned(const Cards& cards, const CardRefs& seen,
                                    const Need& need) const {
    if (!node_.partitions || wish_.request.gpu->shared) return std::nullopt;
    const api::GpuPartitionSpec* spec = wish_.partition ? &*wish_.partition : nullptr;
    Picked got = pickPartition({*node_.partitions, cards, seen, spec}, need.count, need.each);
    if (!got && !spec && !node_.honorsPartitions) return std::nullopt;
    return got;
  }

  Picked general(const Cards& cards, const CardRefs& seen, const Need& need,
                 const PickRules& rules) const {
    const int scope = wish_.of(device_type::kGpu).scope;
    const bool shared = wish_.request.gpu->shared;
    if (shared && need.count > 1) {
      if (scope == 0) return pickCards(device_type::kGpu, seen, need.each, rules);
      return shortOf("node(s) Shares of several GPUs in a required topology scope are unsupported",
                     true);
    }
    if (allPlaced(cards))
      return pickInScope({seen, need.count, need.each, shared, scope, scorer()});
    if (scope == 0) return pickCards(device_type::kGpu, seen, need.each, rules);
    return shortOf("Insufficient Topology Scoped GPU Devices");
  }

  const NodeDevices& node_;
  const DeviceWish& wish_;
  const AllocationTerms& terms_;
  std::map<std::string, Need, std::less<>> needs_;
  DevicePicksByType out_;
};

api::DeviceAllocation allocationOf(const DevicePick& pick) {
  api::DeviceAllocation out;
  out.minor = pick.card->minor;
  out.resources = quantitiesOf(pick.resources);
  out.id = pick.card->id;
  if (!pick.function && pick.sharedTemplate.empty()) return out;
  out.extension.emplace();
  if (pick.function) out.extension->vfs.push_back({pick.function->minor, pick.function->busId});
  out.extension->gpuSharedResourceTemplate = pick.sharedTemplate;
  return out;
}

}  // namespace

tl::expected<DeviceNeed, DeviceShortage> deviceNeed(const DeviceWish& wish, const std::string& type,
                                                    const Cards& cards) {
  if (type == device_type::kGpu) return Need{wish.request.gpu->count, wish.request.gpu->perGpu};
  const auto& [name, amount] = *wish.request.byType.find(type)->second.begin();
  const auto ofEach = [&, key = name](int64_t count, int64_t each) {
    Need out{count, {}};
    out.each.set(key, each);
    return out;
  };
  if (amount > 100) return ofEach(amount / 100, 100);
  const TypeWish& hint = wish.of(type);
  if (hint.count == CardCount::kEach) return ofEach(amount, hint.wholeCards ? 100 : 1);
  if (hint.count != CardCount::kForAll) return ofEach(1, amount);
  const int64_t all = std::count_if(cards.begin(), cards.end(), [&](const Card& card) {
    return card.reported && selects(hint.selector, card);
  });
  if (all == 0) return shortOf(insufficient(type, "devices"));
  return ofEach(all, amount);
}

AllocatedDevices allocateDevices(const NodeDevices& node, const DeviceWish& wish,
                                 const AllocationTerms& terms) {
  return DeviceAllocator(node, wish, terms).run();
}

api::DeviceAllocations annotationOf(const DevicePicksByType& picks) {
  api::DeviceAllocations out;
  for (const auto& [type, list] : picks)
    for (const DevicePick& pick : list) out[type].push_back(allocationOf(pick));
  return out;
}

}  // namespace mangrove::placement
