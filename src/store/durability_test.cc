#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/number/rng.h"
#include "base/os/files.h"
#include "store/sqlite.h"
#include "store/testing.h"

namespace mangrove::store {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

int64_t ask(const std::string& dir, const char* sql) {
  auto db = Sqlite::open(dir + "/store.db", Sqlite::Mode::kExisting, "");
  EXPECT_TRUE(db);
  auto answer = db->askInteger(sql);
  EXPECT_TRUE(answer) << answer.error().text();
  return answer ? *answer : -1;
}

void run(const std::string& dir, const char* sql) {
  auto db = Sqlite::open(dir + "/store.db", Sqlite::Mode::kExisting, "");
  ASSERT_TRUE(db);
  auto done = db->run(sql);
  ASSERT_TRUE(done) << done.error().text();
}

TEST(DurabilityTest, ComesBackAsItWas) {
  TempDir dir;
  Shop shop({.dir = dir.path()});
  shop.put("a", "x", R"(,"labels":{"app":"web"})");
  const Revision created = shop->revision();
  shop.put("a", "x", R"(,"labels":{"app":"db"})");
  shop.put("a", "gone");
  shop.remove("a", "gone");
  shop.reopen();
  EXPECT_EQ(shop->revision(), Revision{5});
  const ObjectPtr x = shop->get(pods(), "a", "x");
  ASSERT_NE(x, nullptr);
  EXPECT_EQ(x->revision(), Revision{3});
  EXPECT_EQ(x->createRevision(), created);
  EXPECT_EQ(x->labels().find("app"), "db");
  EXPECT_EQ(*x->json(), *body("x", {3}, R"(,"labels":{"app":"db"})"));
  EXPECT_EQ(shop->get(pods(), "a", "gone"), nullptr);
  EXPECT_EQ(shop->count(pods()), 1u);
  EXPECT_EQ(shop.put("a", "next"), Revision{6});
}

TEST(DurabilityTest, RevisionsNeverGoBack) {
  TempDir dir;
  Shop shop({.dir = dir.path(), .windowEvents = 0});
  Revision last;
  for (int round = 0; round < 5; ++round) {
    shop.put("a", "x");
    for (int i = 0; i < 40; ++i) shop.put("a", "x");
    last = shop.remove("a", "x");
    shop.reopen();
    EXPECT_EQ(shop->revision(), last);
    EXPECT_EQ(shop->count(pods()), 0u);
  }
}

TEST(DurabilityTest, KeepsNoMoreRowsThanTheWindowNeeds) {
  TempDir dir;
  Shop shop({.dir = dir.path(), .windowEvents = 100});
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 1000; ++i) {
      const bool remove = i % 5 == 4;
      const std::string name = fmt::format("p{}", (remove ? i - 1 : i) % 10);
      Txn txn =
          remove ? std::move(Txn().removeAny({pods(), "a", name})) : shop.puts(pods(), "a", name);
      ASSERT_TRUE(shop->commit(std::move(txn), nullptr));
      if (i % 100 == 99) shop->flush();
    }
    const auto before = versions(*shop->list({.resource = pods()}));
    shop.shut();
    // 6 live, 100 in the window and what they replaced, and up to a trim's worth not yet removed.
    EXPECT_LE(ask(dir.path(), "SELECT count(*) FROM history"), 6 + 2 * 100 + 2 * (100 + 64));
    EXPECT_EQ(ask(dir.path(), "SELECT count(*) FROM objects"), 6);
    shop.reopen();
    EXPECT_EQ(versions(*shop->list({.resource = pods()})), before);
    EXPECT_EQ(shop->stats().windowEvents, 100u);
  }
}

TEST(DurabilityTest, KeepsTheFilesPrivate) {
  TempDir dir;
  Shop shop({.dir = dir.path("new/deeper/data")});
  shop.put("a", "secret");
  const std::string data = dir.path("new/deeper/data");
  struct stat info {};
  ASSERT_EQ(::stat(data.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  for (const char* file : {"/store.db", "/store.db-wal", "/lock"}) {
    ASSERT_EQ(::stat((data + file).c_str(), &info), 0) << file;
    EXPECT_EQ(info.st_mode & 0777, 0600u) << file;
  }
}

TEST(DurabilityTest, FoldsTheLogWhenItIsLargeAndWhenClosed) {
  TempDir dir;
  Shop shop({.dir = dir.path(), .walLimit = kKiB * 64});
  const std::string big = fmt::format(R"(,"data":"{}")", std::string(20000, 'x'));
  for (int i = 0; i < 100; ++i) shop.put("a", fmt::format("p{}", i), "", big);
  EXPECT_LT(std::filesystem::file_size(dir.path() + "/store.db-wal"), 300'000u);
  shop.shut();
  EXPECT_FALSE(std::filesystem::exists(dir.path() + "/store.db-wal"));
}

TEST(DurabilityTest, OneProcessAtATime) {
  TempDir dir;
  Shop shop({.dir = dir.path()});
  auto second = shop.tryOpen();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Code::kConflict);
  EXPECT_THAT(second.error().text(),
              AllOf(HasSubstr(dir.path()), HasSubstr(fmt::format("process {}", ::getpid()))));
  shop.shut();
  EXPECT_TRUE(shop.tryOpen());
}

TEST(DurabilityTest, StartsOverAfterAnInterruptedFirstStart) {
  TempDir dir;
  std::filesystem::create_directories(dir.path());
  std::ofstream(dir.path() + "/store.db.new") << "half of a";
  std::ofstream(dir.path() + "/store.db.new-wal") << "half of a log";
  Shop shop({.dir = dir.path()});
  EXPECT_EQ(shop->revision(), Revision{1});
}

class Damage : public ::testing::Test {
 protected:
  void SetUp() override {
    Shop shop({.dir = dir_.path()});
    for (int i = 0; i < 200; ++i)
      ASSERT_TRUE(shop->commit(shop.puts(pods(), "a", fmt::format("p{}", i), "",
                                         fmt::format(R"(,"d":"{}")", std::string(500, 'x'))),
                               nullptr));
  }
  std::string file() const { return dir_.path() + "/store.db"; }
  Error refused() {
    auto opened = Store::open({.dir = dir_.path()}, [](Fn) {});
    EXPECT_FALSE(opened);
    return opened ? Error(Code::kInternal, "opened") : opened.error();
  }
  void expectDamage(std::string_view what = "") {
    const Error error = refused();
    EXPECT_EQ(error.code(), Code::kInvalid) << error.text();
    EXPECT_THAT(error.text(), AllOf(HasSubstr(file() + " is damaged"), HasSubstr(std::string(what)),
                                    HasSubstr("Move it"), HasSubstr("'mangrove restore'")));
  }
  void overwrite(size_t at, std::string_view bytes) {
    std::fstream out(file(), std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(static_cast<std::streamoff>(at));
    out << bytes;
  }
  TempDir dir_;
};

TEST_F(Damage, NotADatabase) {
  std::ofstream(file(), std::ios::trunc) << std::string(10000, 'j');
  expectDamage("not a database");
}

TEST_F(Damage, Emptied) {
  std::ofstream(file(), std::ios::trunc).flush();
  expectDamage("empty");
}

TEST_F(Damage, CutShort) {
  const auto size = std::filesystem::file_size(file());
  for (size_t left : {size - 4096, size / 2, size_t{5000}, size_t{100}}) {
    std::filesystem::resize_file(file(), left);
    expectDamage();
  }
}

TEST_F(Damage, OneLetterOfAnObject) {
  auto content = readFile(file());
  ASSERT_TRUE(content);
  const size_t at = content->find("xxxxxxx");
  ASSERT_NE(at, std::string::npos);
  overwrite(at, "y");
  expectDamage("the checksum of revision");
}

TEST_F(Damage, PagesOfNoise) {
  const auto pages = std::filesystem::file_size(file()) / 4096;
  auto whole = readFile(file());
  Rng rng(7);
  for (int round = 0; round < 20; ++round) {
    std::string noise(4096, '\0');
    for (char& c : noise) c = static_cast<char>(rng.below(256));
    overwrite(4096 * rng.below(pages), noise);
    expectDamage();
    ASSERT_TRUE(writeFileAtomically(file(), *whole));
  }
}

TEST_F(Damage, AMissingVersion) {
  {
    Shop shop({.dir = dir_.path()});
    shop.put("a", "p7");
  }
  run(dir_.path(), "DELETE FROM history WHERE revision = 9");
  expectDamage("a/p7 of revision 202 has no version before it");
}

TEST_F(Damage, ALogWithoutItsDatabase) {
  std::filesystem::rename(file(), file() + ".away");
  std::ofstream(file() + "-wal") << "log";
  EXPECT_THAT(refused().text(), HasSubstr("is missing but its log"));
}

TEST_F(Damage, ANewerFormat) {
  run(dir_.path(), "PRAGMA user_version = 9");
  const Error error = refused();
  EXPECT_EQ(error.code(), Code::kUnsupported);
  EXPECT_THAT(error.text(), HasSubstr("has format 9, this mangrove reads format 1 to 2"));
}

TEST_F(Damage, SomebodyElsesDatabase) {
  run(dir_.path(), "PRAGMA application_id = 1");
  EXPECT_THAT(refused().text(), HasSubstr("not a store of mangrove"));
}

TEST_F(Damage, RefusalGivesTheDirectoryBack) {
  auto whole = readFile(file());
  std::ofstream(file(), std::ios::trunc) << std::string(10000, 'j');
  refused();
  ASSERT_TRUE(writeFileAtomically(file(), *whole));
  EXPECT_TRUE(Store::open({.dir = dir_.path()}, [](Fn) {}));
}

// As a mangrove of format 1 wrote it, statement by statement; the sums are those it computed.
TEST(OlderFormat, AStoreOfAnOlderFormatIsOpenedAndBroughtUpToDate) {
  TempDir dir;
  {
    Shop shop({.dir = dir.path()});
    shop.put("a", "x");
    shop.put("a", "y", "", R"(,"d":1)");
    shop->close();
  }
  run(dir.path(), R"(
    CREATE TABLE kept AS SELECT * FROM history;
    DROP VIEW objects; DROP TABLE history; DROP TABLE history_window;
    CREATE TABLE history(
      revision INTEGER PRIMARY KEY, resource TEXT NOT NULL, namespace TEXT NOT NULL,
      name TEXT NOT NULL, created INTEGER NOT NULL, deleted INTEGER NOT NULL, expires INTEGER,
      sum INTEGER NOT NULL, json TEXT NOT NULL);
    INSERT INTO history SELECT * FROM kept; DROP TABLE kept;
    CREATE TABLE history_window(start INTEGER NOT NULL); INSERT INTO history_window VALUES(1);
    CREATE VIEW objects AS
      SELECT resource, namespace, name, max(revision) AS revision, created, expires, json
      FROM history GROUP BY resource, namespace, name HAVING deleted = 0;
    PRAGMA user_version = 1;)");
  for (int time = 0; time < 2; ++time) {
    Shop shop({.dir = dir.path()});
    EXPECT_EQ(versions(*shop->list({.resource = pods()})),
              (std::vector<std::string>{"a/x@2", "a/y@3"}));
    shop->close();
  }
  EXPECT_EQ(ask(dir.path(), "PRAGMA user_version"), 2);
}

}  // namespace
}  // namespace mangrove::store
