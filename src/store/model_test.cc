// The store against the simplest thing that could be right: a copy of everything at every revision.

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/number/rng.h"
#include "base/testing/size.h"
#include "store/testing.h"

namespace mangrove::store {
namespace {

struct Version {
  uint64_t revision = 0;
  uint64_t created = 0;
  std::string node;
  bool operator==(const Version&) const = default;
};
using World = std::map<std::string, Version>;  // path → version

class Model {
 public:
  // The world after each revision; those between changes are as the one before.
  std::map<uint64_t, World> at{{1, {}}};
  const World& world(uint64_t revision) const {
    return std::prev(at.upper_bound(revision))->second;
  }
  const World& head() const { return at.rbegin()->second; }
};

class ModelTest {
 public:
  explicit ModelTest(uint64_t seed, std::string dir) : rng_(seed) {
    shop_.options() = {.dir = dir,
                       .resources = {{pods(), {{.name = "spec.nodeName", .indexed = true}}}},
                       .windowEvents = 20 + rng_.below(60),
                       .walLimit = kKiB * 64};
    shop_.reopen();
  }

  void run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFatalFailure(); ++i) {
      const uint64_t dice = rng_.below(100);
      if (dice < 60)
        write();
      else if (dice < 70)
        shop_.owner.drain();
      else if (dice < 80)
        compareList();
      else if (dice < 90)
        comparePages();
      else if (dice < 97)
        compareWatch();
      else if (dice < 98)
        reopen();
      else
        shop_->flush();
    }
    shop_->flush();
    compareList();
  }

 private:
  std::string pick() { return fmt::format("p{}", rng_.below(12)); }

  // One to three changes, some with preconditions that do not hold.
  void write() {
    Txn txn;
    World next = model_.head();
    std::optional<Code> refusal;
    std::map<std::string, bool> used;
    const uint64_t first = shop_->nextRevision().v;
    for (uint64_t n = 1 + rng_.below(3); n > 0; --n) {
      const std::string name = pick(), path = "a/" + name;
      if (std::exchange(used[path], true)) continue;
      const auto found = next.find(path);
      const uint64_t held = found == next.end() ? 0 : found->second.revision;
      Precondition expect = precondition(held);
      const bool remove = held != 0 && rng_.chance(0.3);
      if (remove && expect.kind != Precondition::Kind::kAtRevision)
        expect = Precondition::present();
      if (!refusal) refusal = verdict(expect, held);
      addOp(txn, next, name, remove, expect);
    }
    auto taken = shop_->commit(std::move(txn), [](Result<Revision> r) { ASSERT_TRUE(r); });
    if (refusal) {
      ASSERT_FALSE(taken);
      ASSERT_EQ(taken.error().code(), *refusal);
      ASSERT_EQ(shop_->nextRevision().v, first);
      return;
    }
    ASSERT_TRUE(taken) << taken.error().text();
    // Between the changes of one transaction nobody looks, but histories count each of them.
    for (auto& [revision, world] : steps_) model_.at[revision] = std::move(world);
    steps_.clear();
  }

  Precondition precondition(uint64_t held) {
    switch (rng_.below(8)) {
      case 0:
        return Precondition::absent();
      case 1:
        return Precondition::present();
      case 2:
        return Precondition::at({held + rng_.below(2)});
      case 3:
        return held ? Precondition::at({held}) : Precondition::absent();
      default:
        return Precondition::none();
    }
  }

  static std::optional<Code> verdict(Precondition expect, uint64_t held) {
    using Kind = Precondition::Kind;
    if (expect.kind == Kind::kNone) return std::nullopt;
    if (expect.kind == Kind::kAbsent) return held ? std::optional(Code::kExists) : std::nullopt;
    if (held == 0) return Code::kNotFound;
    if (expect.kind == Kind::kAtRevision && expect.revision.v != held) return Code::kConflict;
    return std::nullopt;
  }

  void addOp(Txn& txn, World& next, const std::string& name, bool remove, Precondition expect) {
    const uint64_t revision = shop_->nextRevision(txn).v;
    const std::string path = "a/" + name;
    if (txn.ops().empty()) steps_.clear();
    if (remove) {
      if (expect.kind == Precondition::Kind::kAtRevision)
        txn.remove({pods(), "a", name}, expect.revision);
      else
        txn.removeAny({pods(), "a", name});
      next.erase(path);
    } else {
      const std::string node = fmt::format("n{}", rng_.below(3));
      txn.put({pods(), "a", name},
              body(name, {revision}, "", fmt::format(R"(,"spec":{{"nodeName":"{}"}})", node)),
              expect);
      const auto found = next.find(path);
      next[path] = {revision, found == next.end() ? revision : found->second.created, node};
    }
    steps_[revision] = next;
  }

  static World worldOf(const std::vector<ObjectPtr>& items) {
    World world;
    for (const ObjectPtr& object : items)
      world[std::string(object->path())] = {object->revision().v, object->createRevision().v,
                                            std::string(object->field(0))};
    return world;
  }

  void compareList() {
    const uint64_t visible = shop_->revision().v;
    auto page = shop_->list({.resource = pods()});
    ASSERT_TRUE(page);
    ASSERT_EQ(worldOf(page->items), model_.world(visible)) << "at " << visible;
    for (const auto& [path, version] : model_.head())
      ASSERT_EQ(shop_->getHead(pods(), "a", path.substr(2))->revision().v, version.revision);
    const std::string node = fmt::format("n{}", rng_.below(3));
    World there = model_.world(visible);
    std::erase_if(there, [&](const auto& entry) { return entry.second.node != node; });
    ASSERT_EQ(worldOf(shop_->list({.resource = pods(), .field = {{0, node}}})->items), there);
  }

  void comparePages() {
    const Stats stats = shop_->stats();
    const uint64_t at = stats.windowStart.v + rng_.below(stats.visible.v - stats.windowStart.v + 1);
    Query query{.resource = pods(), .limit = 1 + rng_.below(4), .exact = {at}};
    std::vector<ObjectPtr> all;
    for (;;) {
      auto page = shop_->list(query);
      if (!page && query.from) return expectGone(page.error(), at);
      ASSERT_TRUE(page) << page.error().text();
      all.insert(all.end(), page->items.begin(), page->items.end());
      if (!page->next) break;
      query.from = page->next;
      if (rng_.chance(0.2)) shop_->flush();
    }
    ASSERT_EQ(worldOf(all), model_.world(at)) << "at " << at;
  }

  void expectGone(const Error& error, uint64_t at) {
    ASSERT_EQ(error.code(), Code::kGone);
    ASSERT_LT(at, shop_->stats().windowStart.v);
  }

  void compareWatch() {
    const uint64_t visible = shop_->revision().v;
    const uint64_t from = 1 + rng_.below(visible);
    auto watch = shop_->watch(pods(), "", {from}, nullptr);
    if (!watch) return expectGone(watch.error(), from);
    World world = model_.world(from);
    for (const Event& event : takeAll(*watch, 1 + rng_.below(5))) {
      const std::string path(event.object->path());
      ASSERT_EQ(event.previous != nullptr, world.count(path) == 1);
      ASSERT_EQ(event.previous ? event.previous->revision().v : 0, world[path].revision);
      world.erase(path);
      if (event.type != EventType::kDeleted) world.merge(worldOf({event.object}));
      ASSERT_EQ(world, model_.world(event.revision().v)) << "at " << event.revision().v;
    }
    ASSERT_EQ(world, model_.world(visible));
  }

  void reopen() {
    if (shop_.options().dir.empty()) return;
    shop_.reopen();
    ASSERT_EQ(shop_->revision().v, model_.at.rbegin()->first);
  }

  Rng rng_;
  Shop shop_;
  Model model_;
  std::map<uint64_t, World> steps_;
};

TEST(StoreModelTest, AgreesInMemory) {
  for (uint64_t seed = 1; seed <= sized<uint64_t>(20, 600) && !::testing::Test::HasFatalFailure();
       ++seed) {
    SCOPED_TRACE(seed);
    ModelTest(seed, "").run(400);
  }
}

TEST(StoreModelTest, AgreesOnDisk) {
  for (uint64_t seed = 1; seed <= sized<uint64_t>(4, 60) && !::testing::Test::HasFatalFailure();
       ++seed) {
    SCOPED_TRACE(seed);
    TempDir dir;
    ModelTest(seed, dir.path()).run(400);
  }
}

}  // namespace
}  // namespace mangrove::store
