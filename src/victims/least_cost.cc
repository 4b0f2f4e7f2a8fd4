#include "victims/least_cost.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>

namespace mangrove::victims {
namespace {

struct Set {
  double cost = 0;
  uint16_t members = 0;
};
static_assert(kExactUpTo <= 16, "a set is the bits of a uint16_t");

std::vector<size_t> indexesOf(uint16_t members) {
  std::vector<size_t> out;
  for (; members != 0; members &= static_cast<uint16_t>(members - 1)) {
    out.push_back(static_cast<size_t>(std::countr_zero(members)));
  }
  return out;
}

// "The earlier items": the set that holds the first item in which they differ.
bool holdsEarlier(uint16_t a, uint16_t b) {
  const unsigned differ = static_cast<unsigned>(a ^ b);
  return differ != 0 && ((a >> std::countr_zero(differ)) & 1) != 0;
}

bool cheaper(const Set& a, const Set& b) {
  if (a.cost != b.cost) return a.cost < b.cost;
  const int sizeA = std::popcount(a.members);
  const int sizeB = std::popcount(b.members);
  return sizeA != sizeB ? sizeA < sizeB : holdsEarlier(a.members, b.members);
}

// A set without its last member was summed before; adding members in order keeps sums equal that
// are sums of the same items.
std::vector<Set> setsByCost(std::span<const Item> items) {
  std::vector<Set> sets(size_t{1} << items.size());
  for (size_t members = 1; members < sets.size(); ++members) {
    const auto last = static_cast<size_t>(std::bit_width(members) - 1);
    sets[members] = {sets[members ^ (size_t{1} << last)].cost + items[last].cost,
                     static_cast<uint16_t>(members)};
  }
  std::sort(sets.begin(), sets.end(), cheaper);
  return sets;
}

// Free items make a larger set cost the same as a smaller one, which stands earlier in the order;
// so the first that suffices is also one in which nobody can be left out.
std::optional<std::vector<size_t>> exact(std::span<const Item> items, const Suffices& suffices) {
  for (const Set& set : setsByCost(items)) {
    std::vector<size_t> indexes = indexesOf(set.members);
    if (suffices(indexes)) return indexes;
  }
  return std::nullopt;
}

// Share of the need that an item still covers: what is beyond the need gains nothing.
double share(const Item& item, std::span<const double> need, std::span<const double> missing) {
  double sum = 0;
  for (size_t i = 0; i < need.size() && i < item.gain.size(); ++i) {
    if (need[i] > 0) sum += std::clamp(item.gain[i], 0.0, std::max(0.0, missing[i])) / need[i];
  }
  return sum;
}

struct Bid {
  double price;  // cost per gain; infinite where nothing countable is gained
  double cost;
  auto operator<=>(const Bid&) const = default;
};
Bid bidOf(const Item& item, std::span<const double> need, std::span<const double> missing) {
  const double gain = share(item, need, missing);
  return {gain > 0 ? item.cost / gain : std::numeric_limits<double>::infinity(), item.cost};
}

size_t bestOf(const std::vector<size_t>& left, std::span<const Item> items,
              std::span<const double> need, std::span<const double> missing) {
  size_t best = 0;
  for (size_t i = 1; i < left.size(); ++i) {
    if (bidOf(items[left[i]], need, missing) < bidOf(items[left[best]], need, missing)) best = i;
  }
  return best;
}

// Dearest first, so that what is spared is what would have cost most.
void dropUnneeded(std::vector<size_t>& chosen, std::span<const Item> items,
                  const Suffices& suffices) {
  std::vector<size_t> byCost = chosen;
  std::stable_sort(byCost.begin(), byCost.end(),
                   [&](size_t a, size_t b) { return items[a].cost > items[b].cost; });
  for (const size_t candidate : byCost) {
    std::vector<size_t> without = chosen;
    std::erase(without, candidate);
    if (suffices(without)) chosen = std::move(without);
  }
}

std::optional<std::vector<size_t>> byPrice(std::span<const Item> items,
                                           std::span<const double> need, const Suffices& suffices) {
  std::vector<size_t> left(items.size());
  std::iota(left.begin(), left.end(), size_t{0});
  if (!suffices(left)) return std::nullopt;
  std::vector<size_t> chosen;
  std::vector<double> missing(need.begin(), need.end());
  while (!suffices(chosen)) {
    const size_t best = bestOf(left, items, need, missing);
    const Item& item = items[left[best]];
    for (size_t i = 0; i < missing.size() && i < item.gain.size(); ++i) missing[i] -= item.gain[i];
    chosen.insert(std::upper_bound(chosen.begin(), chosen.end(), left[best]), left[best]);
    left.erase(left.begin() + static_cast<long>(best));
  }
  dropUnneeded(chosen, items, suffices);
  return chosen;
}

}  // namespace

std::optional<std::vector<size_t>> leastCost(std::span<const Item> items,
                                             std::span<const double> need,
                                             const Suffices& suffices) {
  return items.size() <= kExactUpTo ? exact(items, suffices) : byPrice(items, need, suffices);
}

}  // namespace mangrove::victims
