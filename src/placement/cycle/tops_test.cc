#include "placement/cycle/tops.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/number/rng.h"
#include "placement/framework/verdict.h"

namespace mangrove::placement {
namespace {

std::vector<size_t> rowsOf(const std::vector<int32_t>& scores, int32_t value) {
  std::vector<size_t> out;
  eachRowAt(scores, value, [&](size_t row) { out.push_back(row); });
  return out;
}

TEST(Tops, OfFewRows) {
  EXPECT_EQ(topOf({}).score, kNotFeasible);
  EXPECT_EQ(rowsOf({}, 3), std::vector<size_t>{});
  const std::vector<int32_t> scores = {kNotFeasible, 7, 3, 7, kNotFeasible};
  EXPECT_EQ(topOf(scores).score, 7);
  EXPECT_EQ(topOf(scores).feasible, 3U);
  EXPECT_EQ(rowsOf(scores, 7), (std::vector<size_t>{1, 3}));
  EXPECT_EQ(topOf(std::vector<int32_t>(130, kNotFeasible)).feasible, 0U);
  EXPECT_EQ(topOf(std::vector<int32_t>(130, 0)).feasible, 130U) << "no score is a score";
}

// Every length around whole blocks, with the top at any place, against a plain loop.
TEST(Tops, AreThoseOfAPlainLoop) {
  Rng rng(3);
  for (size_t size = 0; size < 330; size++) {
    std::vector<int32_t> scores(size);
    for (int32_t& score : scores)
      score = rng.below(5) == 0 ? kNotFeasible : static_cast<int32_t>(rng.below(6)) - 2;
    int32_t top = kNotFeasible;
    size_t feasible = 0;
    for (int32_t score : scores) top = std::max(top, score), feasible += score != kNotFeasible;
    std::vector<size_t> rows;
    for (size_t row = 0; row < size; row++)
      if (scores[row] == top) rows.push_back(row);
    EXPECT_EQ(topOf(scores).score, top) << size;
    EXPECT_EQ(topOf(scores).feasible, feasible) << size;
    EXPECT_EQ(rowsOf(scores, top), rows) << size;
  }
}

}  // namespace
}  // namespace mangrove::placement
