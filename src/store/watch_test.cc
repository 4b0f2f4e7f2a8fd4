#include "store/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/testing.h"

namespace mangrove::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WatchTest : public ::testing::TestWithParam<bool> {
 protected:
  Options options() { return {.dir = GetParam() ? dir_.path() : ""}; }
  TempDir dir_;
};
INSTANTIATE_TEST_SUITE_P(DiskAndMemory, WatchTest, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "disk" : "memory"; });

// The history that most tests here look at, revisions 2 to 7.
void tell(Shop& shop) {
  shop.put("a", "x");
  shop.put("b", "y");
  shop.put("a", "x");
  shop.now(shop.puts(nodes(), "", "n1"));
  shop.remove("a", "x");
  shop.put("a", "x");
}
const std::vector<std::string> kTold = {"ADDED a/x@2", "ADDED b/y@3", "MODIFIED a/x@4 was @2",
                                        "DELETED a/x@6 was @4", "ADDED a/x@7"};

TEST_P(WatchTest, GoesOnFromEveryPosition) {
  Shop shop(options());
  tell(shop);
  for (bool again : {false, true}) {
    if (again && GetParam()) shop.reopen();
    for (uint64_t from = 1; from <= 7; ++from) {
      auto watch = shop->watch(pods(), "", {from}, nullptr);
      ASSERT_TRUE(watch) << watch.error().text();
      const size_t skipped = from < 2   ? 0
                             : from < 3 ? 1
                             : from < 4 ? 2
                             : from < 6 ? 3
                             : from < 7 ? 4
                                        : 5;
      const std::vector<std::string> rest(kTold.begin() + static_cast<std::ptrdiff_t>(skipped),
                                          kTold.end());
      EXPECT_EQ(lines(takeAll(*watch, 1 + from % 3)), rest) << "from " << from;
      EXPECT_EQ(watch->position(), Revision{7});
    }
  }
}

TEST_P(WatchTest, FiltersByNamespaceAndResource) {
  Shop shop(options());
  tell(shop);
  auto b = shop->watch(pods(), "b", {1}, nullptr);
  EXPECT_THAT(lines(takeAll(*b)), ElementsAre("ADDED b/y@3"));
  auto n = shop->watch(nodes(), "", {1}, nullptr);
  EXPECT_THAT(lines(takeAll(*n)), ElementsAre("ADDED n1@5"));
  auto none = shop->watch(Interned("none.v1"), "", {1}, nullptr);
  EXPECT_THAT(takeAll(*none), IsEmpty());
}

TEST_P(WatchTest, ShowsTheLastStateOfTheRemoved) {
  Shop shop(options());
  shop.put("a", "x", R"(,"labels":{"app":"web"})");
  shop.remove("a", "x");
  Txn bare;
  shop.put("a", "z");
  bare.removeAny({pods(), "a", "z"});
  shop.now(std::move(bare));
  if (GetParam()) shop.reopen();
  auto watch = shop->watch(pods(), "", {2}, nullptr);
  auto events = takeAll(*watch);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(*events[0].object->json(), *body("x", {3}));
  EXPECT_EQ(events[0].previous->labels().find("app"), "web");
  EXPECT_EQ(events[2].revision(), Revision{5});
  EXPECT_EQ(*events[2].object->json(), *body("z", {4})) << "without bytes of its own";
}

TEST_P(WatchTest, RefusesPositionsOutsideTheWindow) {
  Options small = options();
  small.windowEvents = 3;
  Shop shop(small);
  tell(shop);
  // The window holds nodes 5 and pods 6 and 7; of the pods, 4 is the newest lost.
  for (bool again : {false, true}) {
    if (again && GetParam()) shop.reopen();
    for (uint64_t from : {1, 2, 3})
      EXPECT_EQ(shop->watch(pods(), "", {from}, nullptr).error().code(), Code::kGone) << from;
    for (uint64_t from : {4, 5, 6, 7})
      EXPECT_TRUE(shop->watch(pods(), "", {from}, nullptr)) << from;
    EXPECT_EQ(shop->watch(pods(), "", {8}, nullptr).error().code(), Code::kGone) << "the future";
  }
  EXPECT_TRUE(shop->watch(nodes(), "", {1}, nullptr)) << "nothing of nodes was lost";
}

TEST_P(WatchTest, TellsTheSlowThatTheyAreTooLate) {
  Options small = options();
  small.windowEvents = 3;
  Shop shop(small);
  auto slow = shop->watch(pods(), "", {1}, nullptr);
  auto keen = shop->watch(pods(), "", {1}, nullptr);
  std::vector<std::string> seen;
  for (int i = 0; i < 10; ++i) {
    shop.put("a", "x");
    for (auto& line : lines(takeAll(*keen))) seen.push_back(line);
  }
  EXPECT_EQ(seen.size(), 10u);
  auto late = slow->take(10);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), Code::kGone);
  EXPECT_EQ(late.error().text(), "too old resource version: 1 (8)");
}

TEST_P(WatchTest, BytesBoundTheWindowToo) {
  Options small = options();
  small.windowBytes = Bytes{20000};
  Shop shop(small);
  const std::string big = fmt::format(R"(,"data":"{}")", std::string(3000, 'x'));
  for (int i = 0; i < 30; ++i) shop.put("a", "x", "", big);
  const Stats stats = shop->stats();
  EXPECT_LE(stats.windowBytes.v, 20000);
  EXPECT_GT(stats.windowEvents, 3u);
  EXPECT_LT(stats.windowEvents, 8u);
  EXPECT_EQ(stats.windowStart.v + stats.windowEvents, stats.visible.v);
}

TEST_P(WatchTest, WakesOnceUntilTakenAgain) {
  Shop shop(options());
  int wakes = 0;
  auto watch = shop->watch(pods(), "a", shop->revision(), [&] { ++wakes; });
  shop.put("a", "x");
  EXPECT_EQ(wakes, 0) << "nobody waits before the first take";
  EXPECT_THAT(lines(takeAll(*watch)), ElementsAre("ADDED a/x@2"));
  shop.put("b", "x");
  EXPECT_EQ(wakes, 0) << "another namespace";
  EXPECT_EQ(watch->position(), Revision{3});
  shop.put("a", "y");
  shop.put("a", "z");
  EXPECT_EQ(wakes, 1);
  EXPECT_EQ(watch->position(), Revision{3});
  EXPECT_THAT(lines(takeAll(*watch)), ElementsAre("ADDED a/y@4", "ADDED a/z@5"));
  shop.put("a", "z");
  EXPECT_EQ(wakes, 2);
}

// A watch that waits while others' changes push the window along has missed nothing.
TEST_P(WatchTest, WaitingKeepsUpWithTheWindow) {
  Options small = options();
  small.windowEvents = 3;
  Shop shop(small);
  auto watch = shop->watch(pods(), "a", shop->revision(), nullptr);
  EXPECT_THAT(takeAll(*watch), IsEmpty());
  for (int i = 0; i < 10; ++i) shop.put("b", "x");
  EXPECT_THAT(takeAll(*watch), IsEmpty());
  for (int i = 0; i < 10; ++i) shop.put("b", "x");
  shop.put("a", "y");
  EXPECT_THAT(lines(takeAll(*watch)), ElementsAre("ADDED a/y@22"));
}

TEST_P(WatchTest, MayEndAndStartInsideTheCallback) {
  Shop shop(options());
  std::optional<Watch> first, second, third;
  std::vector<std::string> seen;
  const auto begin = [&](std::optional<Watch>& slot, Fn wake) {
    slot.emplace(std::move(*shop->watch(pods(), "", shop->revision(), std::move(wake))));
    EXPECT_THAT(takeAll(*slot), IsEmpty());
  };
  begin(first, [&] {
    seen.push_back("first");
    second.reset();
    first.reset();
    begin(third, [&] { seen.push_back("third"); });
  });
  begin(second, [&] { seen.push_back("second"); });
  shop.put("a", "x");
  EXPECT_THAT(seen, ElementsAre("first"));
  shop.put("a", "x");
  EXPECT_THAT(seen, ElementsAre("first", "third"));
}

TEST_P(WatchTest, OutlivesTheStore) {
  Shop shop(options());
  auto watch = shop->watch(pods(), "", shop->revision(), nullptr);
  shop.shut();
  EXPECT_EQ(watch->take(1).error().code(), Code::kUnavailable);
}

TEST_P(WatchTest, SharesTheBytes) {
  Shop shop(options());
  auto one = shop->watch(pods(), "", shop->revision(), nullptr);
  auto two = shop->watch(pods(), "", shop->revision(), nullptr);
  shop.put("a", "x");
  EXPECT_EQ(takeAll(*one)[0].object, takeAll(*two)[0].object);
}

}  // namespace
}  // namespace mangrove::store
