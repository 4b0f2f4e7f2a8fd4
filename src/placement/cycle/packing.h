#pragma once
// Which item goes into which bin, so that none is overfull: the bare question behind "where does
// this group go", without a cluster in it. A search, no proof: none found means none is known,
// unless a bound says that there is none. Equal tasks and seeds give equal answers.
//
//   PackingTask task{{{8, 32}, {4, 64}}, {{{3, 30}, {1, 1}}}, {{0}, {0}}, {2}};
//   size_t budget = 1'000'000;                    // exchanges it may look at; counted down
//   if (const auto bins = pack(task, budget, seed)) use((*bins)[item]);      // or kNoBin
//
// Pure.

#include <cstdint>
#include <optional>
#include <vector>

namespace mangrove::placement {

inline constexpr size_t kNoBin = ~size_t{0};

// Equal items: how much they take, and where they may go.
struct PackingKind {
  std::vector<int64_t> amounts;  // by resource
  std::vector<uint8_t> allowed;  // by bin: not 0 where it may go
};

struct PackingItem {
  size_t kind = 0;
  size_t part = 0;
};

struct PackingTask {
  std::vector<std::vector<int64_t>> free;  // by bin, by resource
  std::vector<PackingKind> kinds;
  std::vector<PackingItem> items;
  std::vector<size_t> needed;  // items that must find a bin, by part
};

// Whether amounts alone, resource by resource, rule every answer out: in total, by what only large
// bins can take, and by how many large items a bin holds.
bool isTooMuch(const PackingTask& task);

// Exchanges that a task may cost which found no answer so many times before: who waits long is
// tried often, and mostly in vain. At first a tenth of a second, for a hundred items and bins.
size_t exchangesAfter(int32_t failures);
// For whoever asks many times over: when something will fit, what would help it.
inline constexpr size_t kQuickSearch = 200'000;

// By item; kNoBin: left over, which only those beyond the need of their part are.
std::optional<std::vector<size_t>> pack(const PackingTask& task, size_t& budget, uint64_t seed);

}  // namespace mangrove::placement
