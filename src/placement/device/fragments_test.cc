#include "placement/device/fragments.h"

#include <gtest/gtest.h>

namespace mangrove::placement {
namespace {

struct Case {
  CardShape shape;
  NodeRoom room;
  int64_t useless;
};

TEST(Fragments, count_what_a_shape_cannot_use) {
  const Case cases[] = {
      {{1, 100, 0}, {{100, 100}, 1000}, 0},
      {{1, 100, 0}, {{100, 50}, 1000}, 50},     // half a card
      {{2, 100, 0}, {{100, 50}, 1000}, 150},    // does not fit at all
      {{1, 30, 0}, {{100, 20, 40}, 1000}, 20},  // too small a rest
      {{1, 30, 2000}, {{100, 20}, 1000}, 120},  // no CPUs to go with it
      {{8, 100, 0}, {{}, 1000}, 0},
  };
  for (const Case& c : cases) EXPECT_EQ(uselessTo(c.shape, c.room), c.useless);
}

TEST(Fragments, weigh_shapes_by_how_often_they_come) {
  SeenShapes seen;
  EXPECT_EQ(fragmentsOf({{50}, 0}, seen), 0);
  for (int i = 0; i < 3; i++) seen.saw({1, 50, 0});
  seen.saw({1, 100, 0});
  EXPECT_EQ(fragmentsOf({{50}, 0}, seen), 50 * 1000 / 4);
}

TEST(Fragments, forget_what_is_long_ago) {
  SeenShapes seen;
  for (int64_t i = 0; i < SeenShapes::kWindow + 1; i++) seen.saw({1, 50, 0});
  EXPECT_LE(seen.total(), SeenShapes::kWindow / 2 + 1);
  for (int64_t i = 0; i < 100; i++) seen.saw({i, 100, 0});
  EXPECT_LE(seen.all().size(), SeenShapes::kMost);
  int64_t sum = 0;
  for (const auto& one : seen.all()) sum += one.times;
  EXPECT_EQ(sum, seen.total());
}

}  // namespace
}  // namespace mangrove::placement
