#include "store/throughput.h"

#include <gtest/gtest.h>

#include "store/testing.h"

namespace mangrove::store {
namespace {

TEST(ThroughputTest, CountsWhatItCreates) {
  TempDir dir;
  Shop shop({.dir = dir.path()});
  auto measured = measureCreates(*shop, shop.owner, realClock(),
                                 {.creates = 500, .inFlight = 50, .bodyBytes = 1500, .ns = "b"});
  ASSERT_TRUE(measured) << measured.error().text();
  EXPECT_EQ(measured->creates, 500u);
  EXPECT_EQ(shop->count(pods(), "b"), 500u);
  EXPECT_EQ(shop->get(pods(), "b", "bench-00000000")->bytes(), 1500u);
  EXPECT_LT(measured->batches, 500u) << "writes in flight share disk transactions";
  EXPECT_GE(measured->p99, measured->p50);
  EXPECT_GT(measured->perSecond(), 0);
}

TEST(ThroughputTest, SaysWhyItCannot) {
  Shop shop;
  shop->close();
  EXPECT_FALSE(measureCreates(*shop, shop.owner, realClock(), {.creates = 5}));
}

}  // namespace
}  // namespace mangrove::store
