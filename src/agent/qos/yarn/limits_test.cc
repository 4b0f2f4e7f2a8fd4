#include "agent/qos/yarn/limits.h"

#include <gtest/gtest.h>

namespace mangrove::agent {
namespace {

TEST(YarnLimits, CapacityAndWhatTheManagerItselfNeeds) {
  const NodeManagerNeeds own{MilliCpu{500}, kGiB};
  EXPECT_EQ(limitsFor({28, 81'920}, own, {}), (NodeManagerLimits{2'850'000, Bytes{kGiB.v * 81}}));
  EXPECT_EQ(limitsFor({20, 1'024, 10}, {}, {}), (NodeManagerLimits{200'000, kGiB}));
  EXPECT_EQ(limitsFor({0, 0}, {}, {}).quotaUs, 1'000) << "the kernel's least";
}

TEST(YarnLimits, MemoryFollowsDownWhatIsUsed) {
  EXPECT_EQ(limitsFor({1, 1'024}, {}, kGiB * 2).memory.v, kGiB.v * 2 + kMiB.v * 16);
  EXPECT_EQ(limitsFor({1, 1'024}, {}, Bytes{kGiB.v / 2}).memory, kGiB);
}

}  // namespace
}  // namespace mangrove::agent
