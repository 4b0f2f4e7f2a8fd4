#include "placement/reservation/expiry.h"

#include <gtest/gtest.h>

namespace mangrove::placement {
namespace {

using namespace std::chrono_literals;

const WallTime kBorn{std::chrono::hours(24 * 365 * 56)};

api::Reservation born(std::optional<Duration> ttl, std::string_view phase = "Available") {
  api::Reservation out;
  out.meta.creationTimestamp = kBorn;
  out.spec.ttl = ttl;
  out.status.phase = phase;
  if (phase != "Pending") out.status.nodeName = "n";
  return out;
}

TEST(Expiry, TtlCountsFromCreation) {
  EXPECT_FALSE(isExpired(born(1h), kBorn + 59min, true));
  EXPECT_FALSE(isExpired(born(1h), kBorn + 1h, true));
  EXPECT_TRUE(isExpired(born(1h), kBorn + 61min, true));
  EXPECT_FALSE(isExpired(born(0h), kBorn + 10000h, true));
  EXPECT_TRUE(isExpired(born(std::nullopt), kBorn + 25h, true));
}

TEST(Expiry, ADateIsStrongerThanAnyTtl) {
  auto dated = born(24h);
  dated.spec.expires = kBorn + 48h;
  EXPECT_FALSE(isExpired(dated, kBorn + 47h, true));
  EXPECT_TRUE(isExpired(dated, kBorn + 49h, true));
  dated.spec.ttl = 0h;
  EXPECT_TRUE(isExpired(dated, kBorn + 49h, true));
}

TEST(Expiry, InEveryPhaseThatIsNotTheLast) {
  EXPECT_TRUE(isExpired(born(1h, "Pending"), kBorn + 2h, true));
  EXPECT_TRUE(isExpired(born(1h, "Waiting"), kBorn + 2h, true));
  EXPECT_FALSE(isExpired(born(1h, "Succeeded"), kBorn + 2h, true));
  EXPECT_FALSE(isExpired(born(1h, "Failed"), kBorn + 2h, true));
}

TEST(Expiry, ANodeThatIsGoneEndsWhatWasOnIt) {
  EXPECT_TRUE(isExpired(born(1h), kBorn + 1min, false));
  EXPECT_FALSE(isExpired(born(1h, "Pending"), kBorn + 1min, false));
}

TEST(Expiry, LooksBetweenThreeAndFifteenSeconds) {
  EXPECT_EQ(untilNextLook(born(1h), kBorn), 15s);
  EXPECT_EQ(untilNextLook(born(1h), kBorn + 1h - 7s), 7s);
  EXPECT_EQ(untilNextLook(born(1h), kBorn + 1h - 1s), 3s);
  EXPECT_EQ(untilNextLook(born(1h), kBorn + 2h), 3s);
  EXPECT_EQ(untilNextLook(born(0h), kBorn), 15s);
}

TEST(Collection, AfterTheTimeToReadIt) {
  auto over = born(1h, "Failed");
  EXPECT_FALSE(isCollectible(over, kBorn + 100h, 24h, true));  // nothing says why
  over.status.conditions = {{"Ready", "False", "Expired", "", kBorn + 20h, kBorn}};
  EXPECT_FALSE(isCollectible(over, kBorn + 24h, 24h, true));
  EXPECT_TRUE(isCollectible(over, kBorn + 25h, 24h, true));
  EXPECT_TRUE(isCollectible(over, kBorn + 1h, 24h, false));  // at once when its node is gone
  over.status.phase = "Succeeded";                           // counts from the last look
  EXPECT_FALSE(isCollectible(over, kBorn + 25h, 24h, true));
  EXPECT_TRUE(isCollectible(over, kBorn + 45h, 24h, true));
}

TEST(Collection, OtherFailuresStay) {
  auto failed = born(1h, "Failed");
  failed.status.conditions = {{"Ready", "False", "Other", "", kBorn, kBorn}};
  EXPECT_FALSE(isCollectible(failed, kBorn + 1000h, 24h, true));
  EXPECT_FALSE(isCollectible(failed, kBorn + 1000h, 24h, false));
}

}  // namespace
}  // namespace mangrove::placement
