#include "scheduler/bench/turns.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

namespace mangrove::scheduler {

namespace {

Slice slice(size_t pods, double seconds, double cpuSeconds = 0) {
  return {pods, seconds, cpuSeconds};
}

TEST(Turns, cut_pods_into_even_slices) {
  struct Case {
    size_t pods;
    size_t slices;
  };
  for (const auto& c :
       {Case{0, 0}, {1, 1}, {2, 2}, {100, 2}, {500, 2}, {1000, 2}, {5000, 5}, {10003, 10}}) {
    const auto slices = slicesOf(c.pods);
    EXPECT_EQ(slices.size(), c.slices) << c.pods;
    EXPECT_EQ(std::accumulate(slices.begin(), slices.end(), size_t{0}), c.pods);
    for (size_t one : slices) EXPECT_NEAR(one, c.pods / c.slices, 1) << c.pods;
  }
}

TEST(Turns, pair_slices_in_an_order_of_chance_and_forget_the_first) {
  std::string order;
  const auto side = [&](char who, double seconds) {
    return [&order, who, seconds](size_t pods) -> Result<Slice> {
      order += who;
      return slice(pods, seconds);
    };
  };
  const auto turns = takeTurns(slicesOf(10000), side('r', 0.1), side('o', 0.2), 7);
  ASSERT_TRUE(turns);
  EXPECT_EQ(turns->raw.size(), 9u);
  EXPECT_EQ(turns->ours.size(), 9u);
  EXPECT_EQ(order.size(), 20u);
  for (size_t i = 0; i < order.size(); i += 2) EXPECT_NE(order[i], order[i + 1]) << order;
  EXPECT_NE(order.find("rr"), std::string::npos) << order;  // who is second may be first next
}

TEST(Turns, run_without_a_raw_side_and_keep_the_only_slice) {
  const auto turns = takeTurns(
      {1}, {}, [](size_t pods) -> Result<Slice> { return slice(pods, 0.5, 0.001); }, 1);
  ASSERT_TRUE(turns);
  EXPECT_EQ(rateOf(turns->ours), 2);
  EXPECT_EQ(cpuMicrosOf(turns->ours), 1000);
  EXPECT_EQ(shareText(shareOf(*turns)), "-");
}

TEST(Turns, end_with_what_went_wrong) {
  const auto turns = takeTurns(
      {1000}, {},
      [](size_t) -> Result<Slice> { return fail(mangrove::Code::kTimeout, "waited for pods"); }, 1);
  ASSERT_FALSE(turns);
  EXPECT_EQ(turns.error().text(), "waited for pods");
}

// A machine that gets three times slower meanwhile does not change the share.
TEST(Turns, compare_what_lies_close_together) {
  Turns turns;
  for (int i = 0; i < 9; i++) {
    const double slower = 1 + i / 4.0;
    turns.raw.push_back(slice(1000, 0.1 * slower));
    turns.ours.push_back(slice(1000, 0.125 * slower));
  }
  const auto share = shareOf(turns);
  EXPECT_NEAR(share.estimate, 0.8, 1e-9);
  EXPECT_NEAR(share.low, 0.8, 1e-9);
  EXPECT_EQ(shareText(share), "80 % [80-80]");
}

TEST(Turns, claim_no_interval_from_few_pairs) {
  Turns turns{{slice(100, 1), slice(100, 1)}, {slice(100, 1), slice(100, 2)}};
  EXPECT_FALSE(std::isfinite(shareOf(turns).high));
  EXPECT_EQ(shareText(shareOf(turns)).find('['), std::string::npos);
}

}  // namespace

}  // namespace mangrove::scheduler
