#include "store/size_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/testing.h"

namespace mangrove::store {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(SizeLimit, RefusesGrowthAndLetsDeletesGoOn) {
  struct Case {
    const char* what;
    Fill now;
    int64_t growth;
    bool creates, may;
  };
  const Case cases[] = {
      {"no limit", {1 << 20, 0}, 1 << 20, true, true},
      {"room left", {9'000, 16'000}, 7'000, true, true},
      {"one byte too many", {9'000, 16'000}, 7'001, true, false},
      {"a small object is a new one all the same", {16'000, 16'000}, 10, true, false},
      {"shrinking, far beyond", {99'000, 16'000}, -1, false, true},
      {"as large as before", {99'000, 16'000}, 0, false, true},
      {"a step towards its end", {16'000, 16'000}, 512, false, true},
      {"more than a step", {16'000, 16'000}, 513, false, false},
      {"the reserve", {16'500, 16'000}, 500, false, true},
      {"the reserve is spent", {16'501, 16'000}, 500, false, false},
  };
  for (const Case& c : cases) EXPECT_EQ(mayGrow(c.now, c.growth, c.creates), c.may) << c.what;
}

TEST(SizeLimit, AFullStoreSaysSoDeletesAndIsFullAgainAfterARestart) {
  TempDir dir;
  Shop shop({.dir = dir.path(), .maxSize = Bytes{4000}});
  const std::string kilobyte = fmt::format(R"(,"d":"{}")", std::string(1000, 'x'));
  for (const char* name : {"a", "b", "c"}) shop.put("n", name, "", kilobyte);
  const auto refused = shop.now(shop.puts(pods(), "n", "d", "", kilobyte));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kUnavailable);
  EXPECT_THAT(refused.error().text(),
              AllOf(HasSubstr("of 4000 it may"), HasSubstr("--store-size")));
  EXPECT_FALSE(shop->stats().writeFailure) << "nothing is wrong with the disk";
  shop.reopen();
  EXPECT_FALSE(shop.now(shop.puts(pods(), "n", "d", "", kilobyte)));
  shop.put("n", "a", "", kilobyte);  // no larger
  shop.remove("n", "a");
  EXPECT_TRUE(shop.now(shop.puts(pods(), "n", "d", "", kilobyte)));
}

// What waits for the disk counts: a burst must not get past the limit.
TEST(SizeLimit, CountsWhatIsAcceptedNotWhatIsVisible) {
  Shop shop({.maxSize = Bytes{2500}});
  const std::string kilobyte = fmt::format(R"(,"d":"{}")", std::string(1000, 'x'));
  EXPECT_TRUE(shop->commit(shop.puts(pods(), "n", "a", "", kilobyte), nullptr));
  EXPECT_TRUE(shop->commit(shop.puts(pods(), "n", "b", "", kilobyte), nullptr));
  EXPECT_FALSE(shop->commit(shop.puts(pods(), "n", "c", "", kilobyte), nullptr));
}

}  // namespace
}  // namespace mangrove::store
