#include "placement/cycle/tops.h"

#include "placement/framework/verdict.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace mangrove::placement {

namespace {

// Blocks have a fixed size, which lets the compiler use vector instructions; those of the oldest
// processors have no maximum. Sanitizers do not bear functions that are chosen when the program is
// loaded.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#define MANGROVE_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define MANGROVE_WIDE
#endif
constexpr size_t kBlock = 64;

MANGROVE_WIDE Top topOfBlocks(const int32_t* scores, size_t blocks) {
  int32_t top = kNotFeasible, feasible = 0;
  for (size_t b = 0; b < blocks; b++, scores += kBlock)
    for (size_t i = 0; i < kBlock; i++) {
      top = top > scores[i] ? top : scores[i];
      feasible += scores[i] != kNotFeasible;
    }
  return {top, static_cast<size_t>(feasible)};
}

uint64_t oneByOne(const int32_t* scores, size_t count, int32_t value) {
  uint64_t out = 0;
  for (size_t i = 0; i < count; i++) out |= static_cast<uint64_t>(scores[i] == value) << i;
  return out;
}

#if defined(__SSE2__)
// Which of sixteen rows: four comparisons of four, packed to a byte each.
uint64_t ofSixteen(const int32_t* scores, __m128i value) {
  const auto four = [&](size_t at) {
    const auto* from = reinterpret_cast<const __m128i*>(scores + at);
    return _mm_cmpeq_epi32(_mm_loadu_si128(from), value);
  };
  const __m128i low = _mm_packs_epi32(four(0), four(4));
  const __m128i high = _mm_packs_epi32(four(8), four(12));
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
}

uint64_t ofBlock(const int32_t* scores, int32_t value) {
  const __m128i wanted = _mm_set1_epi32(value);
  return ofSixteen(scores, wanted) | ofSixteen(scores + 16, wanted) << 16 |
         ofSixteen(scores + 32, wanted) << 32 | ofSixteen(scores + 48, wanted) << 48;
}
#else
uint64_t ofBlock(const int32_t* scores, int32_t value) {
  return oneByOne(scores, kBlock, value);
}
#endif

}  // namespace

Top topOf(std::span<const int32_t> scores) {
  const size_t blocks = scores.size() / kBlock;
  Top out = topOfBlocks(scores.data(), blocks);
  for (const int32_t score : scores.subspan(blocks * kBlock)) {
    out.score = std::max(out.score, score);
    out.feasible += score != kNotFeasible;
  }
  return out;
}

uint64_t rowsAt(const int32_t* scores, size_t count, int32_t value) {
  return count == kBlock ? ofBlock(scores, value) : oneByOne(scores, count, value);
}

}  // namespace mangrove::placement
