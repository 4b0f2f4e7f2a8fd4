#include "net/loopback.h"

#include <gtest/gtest.h>

namespace mangrove::net {
namespace {

TEST(OwnHost, IsAnAddressOrLocalhostNeverAName) {
  for (auto host : {"127.0.0.1:9317", "127.0.0.1", "[::1]:9317", "localhost:9317", "LOCALHOST",
                    "a.localhost:1", "10.0.0.7:80"})
    EXPECT_TRUE(isOwnHost(host)) << host;
  for (auto host : {"", "attacker.example", "attacker.example:9317", "localhost.attacker.example",
                    "127.0.0.1.attacker.example", "127.0.0.1/x", "xlocalhost"})
    EXPECT_FALSE(isOwnHost(host)) << host;
}

}  // namespace
}  // namespace mangrove::net
