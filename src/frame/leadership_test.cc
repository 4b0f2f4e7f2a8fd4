#include "frame/leadership.h"

#include <gtest/gtest.h>

namespace mangrove::frame {
namespace {

using std::chrono::seconds;

TEST(LeaderFlags, WinOverTheFileAndLeaveTheRest) {
  const client::ElectionConfig file{.ns = "file", .name = "lease", .retryPeriod = seconds(3)};
  const LeaderFlags flags{.ns = "flag", .leaseDuration = seconds(30)};
  const client::ElectionConfig got = flags.config(file);
  EXPECT_EQ(got.ns, "flag");
  EXPECT_EQ(got.name, "lease");
  EXPECT_EQ(got.leaseDuration, seconds(30));
  EXPECT_EQ(got.renewDeadline, file.renewDeadline);
  EXPECT_EQ(got.retryPeriod, seconds(3));
}

TEST(Leadership, ThatNeverBeganEndsAtOnce) {
  Leadership leadership;
  bool ended = false;
  leadership.stop([&] { ended = true; });
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace mangrove::frame
