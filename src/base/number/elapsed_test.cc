#include "base/number/elapsed.h"

#include <gtest/gtest.h>

#include "base/text/time_text.h"

namespace mangrove {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;

TEST(Elapsed, IsTheDistanceWhereADurationHoldsIt) {
  const WallTime now = parseTime("2026-11-18T12:00:00.000001Z").value();
  EXPECT_EQ(elapsed(now, now), Duration::zero());
  EXPECT_EQ(elapsed(parseTime("2026-11-18T11:00:00Z").value(), now), hours(1) + microseconds(1));
  EXPECT_EQ(elapsed(now + hours(2), now), -hours(2));
}

TEST(Elapsed, IsTheLongestWhereNone) {
  const WallTime now = parseTime("2026-11-18T12:00:00Z").value();
  const WallTime late = parseTime("9999-12-31T23:59:59Z").value();
  constexpr Duration century = hours(24 * 365 * 100);
  EXPECT_GT(elapsed(kZeroTime, now), century);
  EXPECT_LT(elapsed(now, kZeroTime), -century);
  EXPECT_LT(elapsed(late, now), -century);
  EXPECT_GT(elapsed(kZeroTime, late), century);
}

}  // namespace
}  // namespace mangrove
