#include "placement/device/scopes.h"

#include <algorithm>
#include <compare>

namespace mangrove::placement {
namespace {

constexpr int kNodeLevel = 1, kNumaLevel = 2, kPcieLevel = 3, kDeviceLevel = 4;

struct Scope {
  CardRefs cards;
  bool inUse() const {
    return std::any_of(cards.begin(), cards.end(), [](const Card* card) { return card->inUse(); });
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
    for (const Card* card : question.visible) {
      node_.cards.push_back(card);
      numas_[card->topology->nodeId].cards.push_back(card);
      switches_[card->pcie()].cards.push_back(card);
    }
  }

  CardRefs search() {
    const int nodeBroken = node_.inUse();
    consider(node_, kNodeLevel, nodeBroken);
    for (const auto& [id, numa] : numas_) consider(numa, kNumaLevel, nodeBroken + numa.inUse());
    for (const auto& [id, pcie] : switches_)
      consider(pcie, kPcieLevel, nodeBroken + numas_.at(id.first).inUse() + pcie.inUse());
    return std::move(best_);
  }

 private:
  void consider(const Scope& scope, int level, int brokenLevels) {
    if (level < std::min(question_.required, kPcieLevel)) return;
    CardRefs fitting = fittingIn(scope);
    if (fitting.empty() || static_cast<int64_t>(fitting.size()) < question_.count) return;
    const int64_t score =
        question_.shared ? scoreOf(*fitting.front(), question_.each, question_.scorer) : 0;
    const Merit merit{level, brokenLevels, score};
    if (!best_.empty() && merit <= merit_) return;
    merit_ = merit;
    fitting.resize(static_cast<size_t>(question_.count));
    best_ = std::move(fitting);
  }

  CardRefs fittingIn(const Scope& scope) const {
    CardRefs out;
    for (const Card* card : scope.cards)
      if (hasRoom(*card, question_.each)) out.push_back(card);
    if (question_.shared)
      std::stable_sort(out.begin(), out.end(), [&](const Card* a, const Card* b) {
        return scoreOf(*a, question_.each, question_.scorer) >
               scoreOf(*b, question_.each, question_.scorer);
      });
    return out;
  }

  const ScopeQuestion& question_;
  Scope node_;
  std::map<int, Scope> numas_;
  std::map<std::pair<int, std::string_view>, Scope> switches_;
  CardRefs best_;
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
