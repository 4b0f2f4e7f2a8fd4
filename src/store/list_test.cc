#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/number/rng.h"
#include "store/testing.h"

namespace mangrove::store {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Options indexed() {
  return {.resources = {
              {pods(), {{.name = "spec.nodeName", .indexed = true}, {.name = "status.phase"}}}}};
}

std::string on(std::string_view node, std::string_view phase = "Running") {
  return fmt::format(R"(,"spec":{{"nodeName":"{}"}},"status":{{"phase":"{}"}})", node, phase);
}

TEST(ListTest, OrdersAsEtcdDoes) {
  Shop shop;
  for (const char* ns : {"b", "a", "a-b", "a0"})
    for (const char* name : {"y", "x"}) shop.put(ns, name);
  const auto all = paths(shop->list({.resource = pods()})->items);
  EXPECT_THAT(all, ElementsAre("a-b/x", "a-b/y", "a/x", "a/y", "a0/x", "a0/y", "b/x", "b/y"));
  EXPECT_THAT(paths(shop->list({.resource = pods(), .ns = "a"})->items), ElementsAre("a/x", "a/y"));
  EXPECT_THAT(shop->list({.resource = pods(), .ns = "c"})->items, IsEmpty());
  EXPECT_THAT(shop->list({.resource = nodes()})->items, IsEmpty());
}

TEST(ListTest, PagesCountWhatIsLeft) {
  Shop shop;
  for (int i = 0; i < 7; ++i) shop.put(i < 5 ? "a" : "b", fmt::format("p{}", i));
  Query query{.resource = pods(), .ns = "a", .limit = 2};
  std::vector<std::string> seen;
  std::vector<size_t> remaining;
  for (;;) {
    auto page = shop->list(query);
    ASSERT_TRUE(page) << page.error().text();
    for (auto& path : paths(page->items)) seen.push_back(path);
    if (!page->next) break;
    remaining.push_back(page->remaining.value());
    query.from = *Continue::parse(page->next->text());
  }
  EXPECT_THAT(seen, ElementsAre("a/p0", "a/p1", "a/p2", "a/p3", "a/p4"));
  EXPECT_THAT(remaining, ElementsAre(3, 1));
}

TEST(ListTest, LimitCountsWhatPassedTheFilter) {
  Shop shop;
  for (int i = 0; i < 9; ++i) shop.put("a", fmt::format("p{}", i));
  Query query{.resource = pods(), .limit = 2};
  query.filter = [](const Object& object) { return (object.name()[1] - '0') % 3 == 0; };
  auto first = shop->list(query);
  EXPECT_THAT(paths(first->items), ElementsAre("a/p0", "a/p3"));
  EXPECT_EQ(first->remaining, std::nullopt);
  query.from = first->next;
  auto second = shop->list(query);
  EXPECT_THAT(paths(second->items), ElementsAre("a/p6"));
  EXPECT_EQ(second->next, std::nullopt) << "no empty page at the end";
}

TEST(ListTest, FindsByFieldWithAndWithoutIndex) {
  Shop shop(indexed());
  for (int i = 0; i < 6; ++i)
    shop.put(i % 2 ? "a" : "b", fmt::format("p{}", i), "",
             on(i < 3 ? "n1" : "n2", i ? "Running" : "Failed"));
  const auto find = [&](size_t field, const char* value, std::string ns = "") {
    return paths(shop->list({.resource = pods(), .ns = ns, .field = {{field, value}}})->items);
  };
  EXPECT_THAT(find(0, "n1"), ElementsAre("a/p1", "b/p0", "b/p2"));
  EXPECT_THAT(find(0, "n1", "b"), ElementsAre("b/p0", "b/p2"));
  EXPECT_THAT(find(0, "n"), IsEmpty());
  EXPECT_THAT(find(1, "Failed"), ElementsAre("b/p0"));
  shop.put("b", "p0", "", on("n2"));
  EXPECT_THAT(find(0, "n1"), ElementsAre("a/p1", "b/p2"));
  shop.remove("b", "p2");
  EXPECT_THAT(find(0, "n1"), ElementsAre("a/p1"));
}

TEST(ListTest, PagesThroughAnIndexStayWithTheirRevision) {
  Shop shop(indexed());
  for (int i = 0; i < 5; ++i) shop.put("a", fmt::format("p{}", i), "", on("n1"));
  Query query{.resource = pods(), .field = {{0, "n1"}}, .limit = 2};
  auto first = shop->list(query);
  shop.put("a", "p2", "", on("elsewhere"));
  shop.put("a", "p9", "", on("n1"));
  query.from = first->next;
  auto second = shop->list(query);
  EXPECT_THAT(versions(*second), ElementsAre("a/p2@4", "a/p3@5"));
  query.from = second->next;
  EXPECT_THAT(versions(*shop->list(query)), ElementsAre("a/p4@6"));
}

// Every page of a list shows the state of its first page, whatever is written in between.
TEST(ListTest, PagesAreOneSnapshotUnderWrites) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Shop shop;
    const auto write = [&] {
      const std::string name = fmt::format("p{:02}", rng.below(40));
      const bool there = shop->get(pods(), "a", name) != nullptr;
      if (there && rng.chance(0.4)) return shop.remove("a", name);
      return shop.put("a", name);
    };
    for (int i = 0; i < 100; ++i) write();
    const auto truth = versions(*shop->list({.resource = pods()}));
    const Revision at = shop->revision();
    Query query{.resource = pods(), .limit = 1 + rng.below(7)};
    std::vector<std::string> seen;
    for (;;) {
      auto page = shop->list(query);
      ASSERT_TRUE(page) << page.error().text();
      EXPECT_EQ(page->revision, at);
      for (auto& line : versions(*page)) seen.push_back(line);
      if (!page->next) break;
      query.from = page->next;
      for (uint64_t i = rng.below(20); i > 0; --i) write();
    }
    EXPECT_THAT(seen, ElementsAreArray(truth));
    EXPECT_THAT(versions(*shop->list({.resource = pods(), .exact = at})), ElementsAreArray(truth));
  }
}

TEST(ListTest, TokensExpireWithTheWindow) {
  Shop shop({.windowEvents = 4});
  for (int i = 0; i < 4; ++i) shop.put("a", fmt::format("p{}", i));
  Query query{.resource = pods(), .limit = 2};
  query.from = shop->list(query)->next;
  for (int i = 0; i < 4; ++i) shop.put("a", "p3");
  EXPECT_TRUE(shop->list(query)) << "as many changes as the window holds";
  shop.now(shop.puts(nodes(), "", "n1"));
  EXPECT_FALSE(shop->list(query)) << "one more, though of another resource, pushes the oldest out";
  auto gone = shop->list(query);
  EXPECT_EQ(gone.error().code(), Code::kGone);
  EXPECT_THAT(gone.error().text(), ::testing::HasSubstr("continue token expired"));
  query.from = query.from->inconsistent();
  auto rest = shop->list(query);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->revision, shop->revision());
  EXPECT_THAT(paths(rest->items), ElementsAre("a/p2", "a/p3"));
}

TEST(ListTest, RefusesRevisionsAheadOfTheStore) {
  Shop shop;
  auto page = shop->list({.resource = pods(), .exact = {99}});
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code(), Code::kTimeout);
  EXPECT_EQ(page.error().text(), "Too large resource version: 99, current: 1");
}

}  // namespace
}  // namespace mangrove::store
