#include "workloads/rollout.h"

#include <gtest/gtest.h>

namespace mangrove::workloads {
namespace {

using Sizes = std::vector<int32_t>;

TEST(RollingStep, GrowsFirstThenShrinksAsFarAsAvailabilityAllows) {
  struct Case {
    const char* what;
    RolloutSets sets;
    RolloutGoal goal;
    Sizes want;
  } cases[] = {
      {"room above: the new set grows", {{0, 0}, {{4, 4}}}, {4, 1, 1}, {1, 4}},
      {"no room: one old replica may go", {{1, 0}, {{4, 4}}}, {4, 1, 1}, {1, 3}},
      {"new one not there yet, floor reached: wait", {{1, 0}, {{3, 3}}}, {4, 0, 1}, {1, 3}},
      {"room again", {{1, 1}, {{3, 3}}}, {4, 1, 1}, {2, 3}},
      {"unhealthy old ones go first", {{1, 1}, {{2, 0}, {2, 2}}}, {4, 1, 1}, {1, 0, 2}},
      {"too many of the new one", {{6, 6}, {}}, {4, 1, 1}, {4}},
      {"done", {{4, 4}, {{0, 0}}}, {4, 1, 1}, {4, 0}},
      {"surge only: old ones wait for new ones", {{1, 0}, {{4, 4}}}, {4, 1, 0}, {1, 4}},
      {"surge only: a ready new one frees an old one", {{1, 1}, {{4, 4}}}, {4, 1, 0}, {1, 3}},
  };
  for (const auto& c : cases) EXPECT_EQ(rollingStep(c.sets, c.goal), c.want) << c.what;
}

// Whatever the sizes, a step stays under the ceiling and above the floor it started above.
TEST(RollingStep, NeverLeavesItsBounds) {
  for (int32_t fresh = 0; fresh <= 4; ++fresh)
    for (int32_t ready = 0; ready <= fresh; ++ready)
      for (int32_t old = 0; old <= 5; ++old)
        for (int32_t surge = 0; surge <= 2; ++surge)
          for (int32_t gone = 0; gone <= 2; ++gone) {
            if (surge + gone == 0) continue;
            const RolloutGoal goal{4, surge, gone};
            const auto sizes = rollingStep({{fresh, ready}, {{old, old}}}, goal);
            const int32_t ceiling = std::max(4 + surge, fresh + old);
            EXPECT_LE(sizes[0] + sizes[1], ceiling);
            const int32_t availableAfter = std::min(ready, sizes[0]) + sizes[1];
            EXPECT_GE(availableAfter, std::min(4 - gone, ready + old)) << fresh << ready << old;
          }
}

TEST(ProportionalStep, KeepsTheShares) {
  EXPECT_EQ(proportionalStep({{2, 1, 4, 5}, {{3, 3, 4, 5}}}, {8, 2, 2}), (Sizes{4, 6}));
  EXPECT_EQ(proportionalStep({{4, 4, 4, 5}, {}}, {8, 2, 2}), (Sizes{8}));
  EXPECT_EQ(proportionalStep({{0, 0}, {{4, 4, 4, 5}}}, {0, 0, 1}), (Sizes{0, 0}));
  EXPECT_EQ(proportionalStep({{4, 4}, {{2, 0}}}, {4, 1, 1}), (Sizes{4, 0})) << "saturated";
}

TEST(FirstSize, FillsWhatOthersLeave) {
  EXPECT_EQ(firstSize(0, {4, 1, 1}), 4);
  EXPECT_EQ(firstSize(4, {4, 1, 1}), 1);
  EXPECT_EQ(firstSize(9, {4, 1, 1}), 0);
}

}  // namespace
}  // namespace mangrove::workloads
