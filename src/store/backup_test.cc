// Copies of a store that goes on: nothing that was acknowledged before the copy's revision is
// missing from it, and what comes back is the store as it was at that revision.
#include "store/backup.h"

#include <filesystem>
#include <map>
#include <optional>

#include <gtest/gtest.h>

#include "base/number/rng.h"
#include "store/testing.h"

namespace mangrove::store {
namespace {

namespace fs = std::filesystem;

using World = std::map<std::string, uint64_t>;  // path → revision

World worldOf(Store& store) {
  World out;
  auto page = store.list({.resource = pods()});
  for (const auto& pod : page->items) out[std::string(pod->path())] = pod->revision().v;
  return out;
}

// One store that writes at random, copied while it does, each copy opened and compared.
class Copies {
 public:
  explicit Copies(uint64_t seed) : rng_(seed) {
    shop_.options() = {.dir = top_.path("live"), .resources = {{pods(), {}}}};
    shop_.reopen();
    at_[1] = {};
  }

  void write(int changes) {
    for (int i = 0; i < changes; ++i) {
      const std::string name = "p" + std::to_string(rng_.below(200));
      auto seen = shop_->getHead(pods(), "d", name);
      const Revision done =
          seen && rng_.below(3) == 0 ? shop_.remove("d", name) : shop_.put("d", name);
      World next = at_.rbegin()->second;
      if (shop_->getHead(pods(), "d", name)) {
        next["d/" + name] = done.v;
      } else {
        next.erase("d/" + name);
      }
      at_[done.v] = std::move(next);
    }
  }

  void copyAndCompare(int round) {
    write(50);
    shop_->flush();
    const uint64_t acknowledged = shop_->revision().v;
    const std::string file = top_.path("copy" + std::to_string(round));
    std::optional<Result<Revision>> copied;
    shop_->backup(file, [&](Result<Revision> done) { copied = std::move(done); });
    while (!copied) {
      write(5);
      shop_->flush();
      shop_.owner.drain();
    }
    ASSERT_TRUE(*copied) << copied->error().text();
    EXPECT_GE((*copied)->v, acknowledged);
    ASSERT_TRUE(addToBackup(file, {{"ca.pem", "secret"}}));
    const std::string back = top_.path("back" + std::to_string(round));
    BackupFiles files;
    auto done =
        restoreBackup(file, back, [&](const BackupFiles& f) { return files = f, Result<>(); });
    ASSERT_TRUE(done) << done.error().text();
    EXPECT_EQ(files.at("ca.pem"), "secret");
    auto restored = Store::open({.dir = back, .resources = {{pods(), {}}}}, [](Fn fn) { fn(); });
    ASSERT_TRUE(restored) << restored.error().text();
    EXPECT_EQ((*restored)->revision().v, (*copied)->v);
    EXPECT_EQ(worldOf(**restored), std::prev(at_.upper_bound((*copied)->v))->second);
    fs::remove_all(back);
    fs::remove(file);
  }

  Shop& shop() { return shop_; }
  std::string path(const char* name) const { return top_.path(name); }

 private:
  TempDir top_;
  Rng rng_;
  Shop shop_;
  std::map<uint64_t, World> at_;
};

TEST(Backup, IsTheStoreOfItsRevision) {
  Copies copies(7);
  for (int round = 0; round < 100 && !::testing::Test::HasFatalFailure(); ++round)
    copies.copyAndCompare(round);
}

TEST(Backup, RefusesWhatItMustNotOverwriteOrCannotRead) {
  Copies copies(8);
  copies.write(3);
  copies.shop()->flush();
  std::optional<Result<Revision>> done;
  copies.shop()->backup(copies.path("copy"), [&](Result<Revision> r) { done = std::move(r); });
  while (!done) copies.shop()->flush(), copies.shop().owner.drain();
  ASSERT_TRUE(*done);
  const auto restore = [&](const char* from, const char* to, const Result<>& kept = {}) {
    auto restored =
        restoreBackup(copies.path(from), copies.path(to), [&](const BackupFiles&) { return kept; });
    return restored ? std::nullopt : std::optional(restored.error().code());
  };
  EXPECT_EQ(restore("none", "x"), Code::kNotFound);
  EXPECT_EQ(restore("copy", "live"), Code::kConflict) << "in use";
  EXPECT_EQ(restore("copy", "x", fail(Code::kIo, "a full disk")), Code::kIo);
  EXPECT_EQ(restore("copy", "x"), std::nullopt) << "what failed half way left no store";
  EXPECT_EQ(restore("copy", "x"), Code::kExists);
  std::FILE* file = std::fopen(copies.path("junk").c_str(), "w");
  std::fputs("this is no database", file);
  std::fclose(file);
  EXPECT_EQ(restore("junk", "y"), Code::kInvalid);
}

}  // namespace
}  // namespace mangrove::store
