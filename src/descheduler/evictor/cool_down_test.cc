// How long a workload has peace on a node that a part of it has left.
#include "descheduler/evictor/cool_down.h"

#include <gtest/gtest.h>

namespace mangrove::descheduler {
namespace {

using namespace std::chrono_literals;
const WallTime kNoon{std::chrono::hours(24 * 20'000)};

TEST(CoolDown, HoldsTheWorkloadOnThatNodeForFiveMinutes) {
  CoolDown rest(300s);
  rest.note("rs", "n1", kNoon, 1);
  EXPECT_EQ(rest.left("rs", "n1", kNoon, 1), std::nullopt) << "of the same cycle";
  EXPECT_EQ(rest.left("rs", "n1", kNoon + 10s, 2), Duration(290s));
  EXPECT_EQ(rest.left("rs", "n1", kNoon + 299s, 30), Duration(1s));
  EXPECT_EQ(rest.left("rs", "n1", kNoon + 300s, 31), std::nullopt);
  EXPECT_EQ(rest.left("rs", "n2", kNoon + 10s, 2), std::nullopt);
  EXPECT_EQ(rest.left("other", "n1", kNoon + 10s, 2), std::nullopt);
}

TEST(CoolDown, AMoveBeginsItAnewAndOldOnesAreForgotten) {
  CoolDown rest(300s);
  rest.note("rs", "n1", kNoon, 1);
  rest.note("rs", "n1", kNoon + 200s, 20);
  EXPECT_EQ(rest.left("rs", "n1", kNoon + 400s, 40), Duration(100s));
  rest.note("rs", "n9", kNoon + 600s, 60);
  EXPECT_EQ(rest.size(), 1u);
}

TEST(CoolDown, ZeroIsNoneAndABarePodHasNoWorkload) {
  CoolDown none(0s);
  none.note("rs", "n1", kNoon, 1);
  EXPECT_EQ(none.left("rs", "n1", kNoon + 1s, 2), std::nullopt);
  CoolDown rest(300s);
  rest.note("", "n1", kNoon, 1);
  EXPECT_EQ(rest.size(), 0u);
}

}  // namespace
}  // namespace mangrove::descheduler
