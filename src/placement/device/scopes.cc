#include "placement/device/scopes.h"

#include <algorithm>
#include <compare>
#include <iterator>
#include <limits>
#include <optional>
#include <tuple>

namespace mangrove::placement {
namespace {

constexpr int kNodeLevel = 1, kNumaLevel = 2, kPcieLevel = 3, kDeviceLevel = 4;

// A card as the search sees it: asked once whether it fits and how good it is, whatever the number of
// scopes it is in.
struct Seen {
  const Card* card;
  std::pair<int, std::string_view> pcie;
  size_t order;  // among the visible ones
  bool fits, inUse;
  int64_t score;
};
using SeenIter = std::vector<Seen>::iterator;
// Cards of one scope lie side by side once they are sorted by NUMA node and switch.
struct Scope {
  SeenIter begin, end;
  bool inUse() const {
    return std::any_of(begin, end, [](const Seen& one) { return one.inUse; });
  }
};

// What speaks for a scope, the weightiest first; the first of equals in the order of ids wins.
struct Merit {
  int level = 0;
  int brokenLevels = 0;  // of itself and those around it, how many have a card in use
  int64_t score = 0;     // of its best card, for shares
  auto operator<=>(const Merit&) const = default;
};

class ScopeSearch {
 public:
  explicit ScopeSearch(const ScopeQuestion& question) : question_(question) {
    cards_.reserve(question.visible.size());
    for (const Card* card : question.visible) {
      const bool fits = hasRoom(*card, question.each);
      const int64_t score =
          fits && question.shared ? scoreOf(*card, question.each, question.scorer) : 0;
      cards_.push_back({card, card->pcie(), cards_.size(), fits, card->inUse(), score});
    }
    std::sort(cards_.begin(), cards_.end(), [](const Seen& a, const Seen& b) {
      return std::tie(a.pcie, a.order) < std::tie(b.pcie, b.order);
    });
  }

  CardRefs search() {
    const Scope node{cards_.begin(), cards_.end()};
    const int nodeBroken = node.inUse();
    consider(node, kNodeLevel, nodeBroken);
    each(
        node, [](const Seen& one) { return one.pcie.first; },
        [&](const Scope& numa) {
          const int broken = nodeBroken + numa.inUse();
          consider(numa, kNumaLevel, broken);
          each(
              numa, [](const Seen& one) { return one.pcie; },
              [&](const Scope& pcie) { consider(pcie, kPcieLevel, broken + pcie.inUse()); });
        });
    return best_ ? chosenIn(*best_) : CardRefs();
  }

 private:
  template <class KeyOf, class Visit>
  static void each(const Scope& scope, KeyOf keyOf, Visit visit) {
    for (SeenIter from = scope.begin; from != scope.end;) {
      const SeenIter to = std::find_if(from, scope.end,
                                       [&](const Seen& one) { return keyOf(one) != keyOf(*from); });
      visit(Scope{from, to});
      from = to;
    }
  }

  void consider(const Scope& scope, int level, int brokenLevels) {
    if (level < std::min(question_.required, kPcieLevel)) return;
    int64_t fitting = 0;
    Merit merit{level, brokenLevels, std::numeric_limits<int64_t>::min()};
    for (SeenIter one = scope.begin; one != scope.end; ++one) {
      if (!one->fits) continue;
      fitting++;
      merit.score = std::max(merit.score, one->score);
    }
    if (fitting == 0 || fitting < question_.count) return;
    if (best_ && merit <= merit_) return;
    merit_ = merit;
    best_ = scope;
  }

  // Whole cards by minor, shares from the best card.
  CardRefs chosenIn(const Scope& scope) const {
    std::vector<Seen> fitting;
    std::copy_if(scope.begin, scope.end, std::back_inserter(fitting),
                 [](const Seen& one) { return one.fits; });
    std::sort(fitting.begin(), fitting.end(), [](const Seen& a, const Seen& b) {
      return a.score != b.score ? a.score > b.score : a.order < b.order;
    });
    CardRefs out;
    for (int64_t i = 0; i < question_.count; i++)
      out.push_back(fitting[static_cast<size_t>(i)].card);
    return out;
  }

  const ScopeQuestion& question_;
  std::vector<Seen> cards_;
  std::optional<Scope> best_;
  Merit merit_;
};

}  // namespace

Picked pickInScope(const ScopeQuestion& question) {
  const bool oneCardOnly = question.required == kDeviceLevel && question.count > 1;
  const CardRefs cards = oneCardOnly ? CardRefs{} : ScopeSearch(question).search();
  if (cards.empty())
    return shortOf(question.required > 0 ? "Insufficient Topology Scoped GPU Devices"
                                         : "Insufficient GPU Devices");
  DevicePicks out;
  for (const Card* card : cards) out.push_back(pickOf(*card, question.each));
  return out;
}

}  // namespace mangrove::placement
