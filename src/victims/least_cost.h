#pragma once
// The cheapest of all sets that suffice. Up to twelve items by looking at every set in the order of
// its cost; beyond, by cost per gain, and then without those that turned out not to be needed.
// Pure, any thread.

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace mangrove::victims {

inline constexpr size_t kExactUpTo = 12;

struct Item {
  double cost = 0;
  std::vector<double> gain;
};
// Whether these items, by index and ascending, are enough. Must be monotone: a larger set never
// suffices less.
using Suffices = std::function<bool(std::span<const size_t>)>;

// Ascending indexes. nullopt: not even all of them suffice. No item of the answer can be left out.
// Of equal costs the smaller set wins, then the one with the earlier items. `need` is what `gain`
// is measured against where the search goes by cost per gain.
std::optional<std::vector<size_t>> leastCost(std::span<const Item> items,
                                             std::span<const double> need,
                                             const Suffices& suffices);

}  // namespace mangrove::victims
