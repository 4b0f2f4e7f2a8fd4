// Names of kernel parameters: which are safe, and where they stand below /proc/sys.
#include "api/pod/sysctls.h"

#include <gtest/gtest.h>

namespace mangrove::api {
namespace {

TEST(SafeSysctls, KnowTheirStandard) {
  ASSERT_NE(safeSysctl("net.ipv4.tcp_rmem"), nullptr);
  EXPECT_EQ(safeSysctl("net.ipv4.tcp_rmem")->sinceMinor, 32);
  EXPECT_EQ(safeSysctl("net.ipv4.ip_forward"), nullptr);
  EXPECT_EQ(safeSysctl(""), nullptr);
}

TEST(SafeSysctls, StandBelowProcByTheirFirstSeparator) {
  EXPECT_EQ(sysctlPath("net.ipv4.ip_forward"), "net/ipv4/ip_forward");
  EXPECT_EQ(sysctlPath("net/ipv4/conf/eth0.1/forwarding"), "net/ipv4/conf/eth0.1/forwarding");
  EXPECT_EQ(sysctlPath("net.ipv4.conf.eth0/1.forwarding"), "net/ipv4/conf/eth0.1/forwarding");
  EXPECT_EQ(sysctlPath("plain"), "plain");
}

}  // namespace
}  // namespace mangrove::api
