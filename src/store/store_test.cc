#include "store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/testing.h"

namespace mangrove::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Everything here must hold with and without a disk.
class StoreTest : public ::testing::TestWithParam<bool> {
 protected:
  Options options() { return {.dir = GetParam() ? dir_.path() : ""}; }
  TempDir dir_;
};
INSTANTIATE_TEST_SUITE_P(DiskAndMemory, StoreTest, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "disk" : "memory"; });

TEST_P(StoreTest, StartsEmpty) {
  Shop shop(options());
  EXPECT_EQ(shop->revision(), Revision{1});
  EXPECT_EQ(shop->nextRevision(), Revision{2});
  EXPECT_EQ(shop->get(pods(), "default", "web"), nullptr);
  auto page = shop->list({.resource = pods()});
  ASSERT_TRUE(page);
  EXPECT_THAT(page->items, IsEmpty());
  EXPECT_EQ(page->revision, Revision{1});
}

TEST_P(StoreTest, ChecksPreconditions) {
  Shop shop(options());
  const Revision web = shop.put("default", "web");
  struct Case {
    Precondition expect;
    const char* name;
    std::optional<Code> refused;
  };
  const Case cases[] = {
      {Precondition::absent(), "web", Code::kExists},
      {Precondition::present(), "db", Code::kNotFound},
      {Precondition::at(web), "db", Code::kNotFound},
      {Precondition::at({web.v - 1}), "web", Code::kConflict},
      {Precondition::at(web + 1), "web", Code::kConflict},
      {Precondition::absent(), "db", std::nullopt},
      {Precondition::at(web), "web", std::nullopt},
      {Precondition::present(), "web", std::nullopt},
      {Precondition::none(), "web", std::nullopt},
  };
  for (const Case& c : cases) {
    Txn txn;
    txn.put({pods(), "default", c.name}, body(c.name, shop->nextRevision()), c.expect);
    bool called = false;
    auto taken = shop->commit(std::move(txn), [&](Result<Revision>) { called = true; });
    shop->flush();
    EXPECT_EQ(taken ? std::nullopt : std::optional(taken.error().code()), c.refused) << c.name;
    EXPECT_EQ(called, !c.refused);
  }
}

TEST_P(StoreTest, RefusalsNameTheObject) {
  Shop shop(options());
  shop.put("default", "web");
  Txn txn;
  txn.update({pods(), "default", "web"}, body("web", shop->nextRevision()), {99});
  auto taken = shop->commit(std::move(txn), nullptr);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().text(),
            "pods.v1 default/web is at revision 2, not 99: it has been changed meanwhile");
}

TEST_P(StoreTest, ShowsOnlyWhatIsDurable) {
  Shop shop(options());
  std::vector<std::string> log;
  auto taken = shop->commit(shop.puts(pods(), "default", "web"), [&](Result<Revision> r) {
    log.push_back(fmt::format("done {}", r->v));
    EXPECT_NE(shop->get(pods(), "default", "web"), nullptr);
  });
  ASSERT_TRUE(taken);
  EXPECT_EQ(*taken, Revision{2});
  EXPECT_EQ(shop->get(pods(), "default", "web"), nullptr);
  EXPECT_EQ(shop->revision(), Revision{1});
  EXPECT_EQ(shop->count(pods()), 0u);
  ASSERT_NE(shop->getHead(pods(), "default", "web"), nullptr);
  EXPECT_EQ(shop->getHead(pods(), "default", "web")->revision(), Revision{2});
  EXPECT_THAT(log, IsEmpty());
  while (log.empty()) shop.owner.runOne(std::chrono::seconds(10));
  EXPECT_THAT(log, ElementsAre("done 2"));
  EXPECT_EQ(shop->revision(), Revision{2});
  EXPECT_EQ(shop->getHead(pods(), "default", "web"), shop->get(pods(), "default", "web"));
}

TEST_P(StoreTest, PreconditionsLookAtTheHead) {
  Shop shop(options());
  const auto ignore = [](Result<Revision>) {};
  Txn create, again, update, remove, recreate;
  create.create({pods(), "a", "x"}, body("x", shop->nextRevision()));
  ASSERT_TRUE(shop->commit(std::move(create), ignore));
  again.create({pods(), "a", "x"}, body("x", shop->nextRevision()));
  EXPECT_EQ(shop->commit(std::move(again), ignore).error().code(), Code::kExists);
  update.update({pods(), "a", "x"}, body("x", shop->nextRevision()), {2});
  ASSERT_TRUE(shop->commit(std::move(update), ignore));
  remove.remove({pods(), "a", "x"}, {3});
  ASSERT_TRUE(shop->commit(std::move(remove), ignore));
  EXPECT_EQ(shop->getHead(pods(), "a", "x"), nullptr);
  recreate.create({pods(), "a", "x"}, body("x", shop->nextRevision()));
  ASSERT_TRUE(shop->commit(std::move(recreate), ignore));
  shop->flush();
  EXPECT_EQ(shop->get(pods(), "a", "x")->revision(), Revision{5});
  EXPECT_EQ(shop->get(pods(), "a", "x")->createRevision(), Revision{5});
}

TEST_P(StoreTest, CompletesInTheOrderOfRevisions) {
  Shop shop(options());
  std::vector<uint64_t> done;
  for (int i = 0; i < 500; ++i) {
    auto taken = shop->commit(shop.puts(pods(), "a", fmt::format("p{}", i % 7)),
                              [&](Result<Revision> r) { done.push_back(r->v); });
    ASSERT_TRUE(taken);
    if (i % 50 == 0) shop.owner.drain();
  }
  shop->flush();
  ASSERT_EQ(done.size(), 500u);
  for (size_t i = 0; i < done.size(); ++i) EXPECT_EQ(done[i], i + 2);
  EXPECT_EQ(shop->stats().commits, 500u);
  EXPECT_LE(shop->stats().batches, 500u);
}

TEST_P(StoreTest, TransactionsAreWholeOrNot) {
  Shop shop(options());
  shop.put("a", "old");
  Txn bad;
  bad.create({pods(), "a", "new"}, body("new", shop->nextRevision(bad)));
  bad.create({pods(), "a", "old"}, body("old", shop->nextRevision(bad)));
  EXPECT_EQ(shop.now(std::move(bad)).error().code(), Code::kExists);
  EXPECT_EQ(shop->getHead(pods(), "a", "new"), nullptr);

  Txn good;
  good.require({pods(), "a", "old"}, Revision{2});
  good.create({pods(), "a", "new"}, body("new", shop->nextRevision(good)));
  good.remove({pods(), "a", "old"}, {2}, body("old", shop->nextRevision(good)));
  auto done = shop.now(std::move(good));
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(*done, Revision{4});
  EXPECT_THAT(versions(*shop->list({.resource = pods()})), ElementsAre("a/new@3"));
}

TEST_P(StoreTest, RefusesWhatItCannotKeep) {
  Shop shop(options());
  const Key key{pods(), "a", "x"};
  const Revision next = shop->nextRevision();
  const auto codeOf = [&](Txn txn) { return shop->commit(std::move(txn), nullptr).error().code(); };
  EXPECT_EQ(codeOf(Txn()), Code::kInvalid);
  EXPECT_EQ(codeOf(std::move(Txn().create(key, nullptr))), Code::kInvalid);
  EXPECT_EQ(codeOf(std::move(Txn().create(key, std::make_shared<const std::string>("[]")))),
            Code::kInvalid);
  EXPECT_EQ(codeOf(std::move(Txn().create(key, body("x", next)).create(key, body("x", next + 1)))),
            Code::kInvalid);
  EXPECT_EQ(codeOf(std::move(Txn().create(key, body("x", next + 5)))), Code::kInternal);
  EXPECT_EQ(shop->getHead(pods(), "a", "x"), nullptr);
  EXPECT_EQ(shop->nextRevision(), next);
}

TEST_P(StoreTest, FindsTheOwned) {
  Shop shop(options());
  shop.put("a", "one", R"(,"ownerReferences":[{"uid":"rs-1"}])");
  shop.put("a", "two", R"(,"ownerReferences":[{"uid":"rs-1"},{"uid":"rs-2"},{"uid":"rs-1"}])");
  shop.now(shop.puts(nodes(), "", "n", R"(,"ownerReferences":[{"uid":"rs-2"}])"));
  EXPECT_THAT(paths(shop->ownedBy("rs-1")), ElementsAre("a/one", "a/two"));
  EXPECT_THAT(paths(shop->ownedBy("rs-2")), ElementsAre("n", "a/two"));
  shop.put("a", "two");
  shop.remove("a", "one");
  EXPECT_THAT(paths(shop->ownedBy("rs-1")), IsEmpty());
  EXPECT_THAT(paths(shop->ownedBy("rs-2")), ElementsAre("n"));
}

TEST_P(StoreTest, CountsByNamespace) {
  Shop shop(options());
  for (const char* ns : {"a", "a-b", "a0", "b"}) shop.put(ns, "x");
  shop.put("a", "y");
  EXPECT_EQ(shop->count(pods()), 5u);
  EXPECT_EQ(shop->count(pods(), "a"), 2u);
  EXPECT_EQ(shop->count(pods(), "a-b"), 1u);
  EXPECT_EQ(shop->count(pods(), "none"), 0u);
  EXPECT_EQ(shop->count(nodes()), 0u);
  EXPECT_THAT(shop->resources(), ElementsAre(pods()));
}

TEST_P(StoreTest, KnowsWhatHasExpired) {
  Shop shop(options());
  const auto at = [](int s) { return WallTime(std::chrono::seconds(s)); };
  const auto put = [&](const char* name, Txn::Expiry expiry) {
    Txn txn;
    txn.put({pods(), "a", name}, body(name, shop->nextRevision()), Precondition::none(), expiry);
    ASSERT_TRUE(shop.now(std::move(txn)));
  };
  EXPECT_EQ(shop->nextExpiry(), std::nullopt);
  put("late", at(300));
  put("soon", at(100));
  put("never", std::nullopt);
  put("moved", at(50));
  put("moved", at(200));
  if (GetParam()) shop.reopen();
  EXPECT_EQ(shop->nextExpiry(), at(100));
  EXPECT_THAT(paths(shop->expired(at(99), 10)), IsEmpty());
  EXPECT_THAT(paths(shop->expired(at(200), 10)), ElementsAre("a/soon", "a/moved"));
  EXPECT_THAT(paths(shop->expired(at(999), 2)), ElementsAre("a/soon", "a/moved"));
  shop.remove("a", "soon");
  EXPECT_EQ(shop->nextExpiry(), at(200));
}

TEST_P(StoreTest, IndexesAnewWhenFieldsAreDeclaredLater) {
  Shop shop(options());
  shop.put("a", "x", "", R"(,"spec":{"nodeName":"n1"})");
  shop.put("a", "x", "", R"(,"spec":{"nodeName":"n2"})");
  auto pending =
      shop->commit(shop.puts(pods(), "a", "y", "", R"(,"spec":{"nodeName":"n2"})"), nullptr);
  ASSERT_TRUE(pending);
  shop->declare({pods(), {{.name = "spec.nodeName", .indexed = true}}});
  EXPECT_EQ(shop->getHead(pods(), "a", "y")->field(0), "n2");
  shop->flush();
  EXPECT_THAT(versions(*shop->list({.resource = pods(), .field = {{0, "n2"}}})),
              ElementsAre("a/x@3", "a/y@4"));
  EXPECT_THAT(shop->list({.resource = pods(), .field = {{0, "n1"}}})->items, IsEmpty());
  auto watch = shop->watch(pods(), "", {2}, nullptr);
  ASSERT_TRUE(watch);
  auto events = takeAll(*watch);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].previous->field(0), "n1");
  EXPECT_EQ(events[0].object->field(0), "n2");
}

TEST_P(StoreTest, CallbacksMayCommitAgain) {
  Shop shop(options());
  int left = 20;
  std::function<void()> more = [&] {
    if (left-- == 0) return;
    auto taken = shop->commit(shop.puts(pods(), "a", "x"), [&](Result<Revision>) { more(); });
    ASSERT_TRUE(taken);
  };
  more();
  while (left >= 0) shop->flush();
  EXPECT_EQ(shop->revision(), Revision{21});
}

TEST_P(StoreTest, RefusesCommitsAfterClose) {
  Shop shop(options());
  bool called = false;
  ASSERT_TRUE(shop->commit(shop.puts(pods(), "a", "x"), [&](auto r) { called = r.has_value(); }));
  shop->close();
  EXPECT_TRUE(called);
  EXPECT_EQ(shop->commit(shop.puts(pods(), "a", "y"), nullptr).error().code(), Code::kUnavailable);
  EXPECT_NE(shop->get(pods(), "a", "x"), nullptr);
}

TEST_P(StoreTest, BoundsWhatWaits) {
  Options limited = options();
  limited.maxPending = Bytes{1000};
  Shop shop(limited);
  int accepted = 0;
  Result<Revision> last = Revision{};
  // Completions only count here when the owner runs them, so the queue must fill up.
  while ((last = shop->commit(shop.puts(pods(), "a", "x"), nullptr))) ASSERT_LT(++accepted, 100);
  EXPECT_EQ(last.error().code(), Code::kTooMany);
  EXPECT_THAT(last.error().text(), HasSubstr("wait for the disk"));
  shop->flush();
  EXPECT_TRUE(shop->commit(shop.puts(pods(), "a", "x"), nullptr));
}

}  // namespace
}  // namespace mangrove::store
