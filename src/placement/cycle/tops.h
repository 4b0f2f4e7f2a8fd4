#pragma once
// The highest score of a column of scores, and the rows that have it: looked for among all nodes for
// every pod, so that both passes take many rows at a time.
//
//   const Top top = topOf(scores);             // {.score = 712, .feasible = 4980}
//   eachRowAt(scores, top.score, [&](size_t row) { … });
//
// Pure functions, any thread.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mangrove::placement {

struct Top {
  int32_t score;        // kNotFeasible: no row is feasible
  size_t feasible = 0;  // rows that are
};
Top topOf(std::span<const int32_t> scores);

// Bit i: scores[i] is the value; of at most 64 rows.
uint64_t rowsAt(const int32_t* scores, size_t count, int32_t value);

// In the order of the rows.
template <class Fn>
void eachRowAt(std::span<const int32_t> scores, int32_t value, Fn&& fn) {
  constexpr size_t kRows = 64;
  for (size_t from = 0; from < scores.size(); from += kRows) {
    uint64_t rows = rowsAt(scores.data() + from, std::min(kRows, scores.size() - from), value);
    for (; rows != 0; rows &= rows - 1) fn(from + static_cast<size_t>(std::countr_zero(rows)));
  }
}

}  // namespace mangrove::placement
