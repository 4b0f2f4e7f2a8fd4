// What happens when the disk says no. Faults come from a file system of SQLite's that passes
// everything on to the real one until it is told to fail, and from a real one that is full.

#include <atomic>
#include <cerrno>
#include <cstring>
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/mount.h>

#include "base/os/log.h"
#include "store/testing.h"

namespace mangrove::store {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// --- a file system with faults ---------------------------------------------------------------

std::atomic<int> writesLeft{-1};  // negative: no fault; at 0 every write fails
std::atomic<int> writeCode{SQLITE_FULL};
std::atomic<bool> failSync{false};

struct FaultFile {
  sqlite3_file base;
  sqlite3_file* real;
};
sqlite3_file* real(sqlite3_file* file) {
  return reinterpret_cast<FaultFile*>(file)->real;
}

int faultClose(sqlite3_file* f) {
  return real(f)->pMethods->xClose(real(f));
}
int faultRead(sqlite3_file* f, void* to, int n, sqlite3_int64 at) {
  return real(f)->pMethods->xRead(real(f), to, n, at);
}
int faultWrite(sqlite3_file* f, const void* from, int n, sqlite3_int64 at) {
  if (writesLeft.load() == 0) return writeCode.load();
  if (writesLeft.load() > 0) --writesLeft;
  return real(f)->pMethods->xWrite(real(f), from, n, at);
}
int faultTruncate(sqlite3_file* f, sqlite3_int64 size) {
  return real(f)->pMethods->xTruncate(real(f), size);
}
int faultSync(sqlite3_file* f, int flags) {
  return failSync.load() ? SQLITE_IOERR_FSYNC : real(f)->pMethods->xSync(real(f), flags);
}
int faultSize(sqlite3_file* f, sqlite3_int64* size) {
  return real(f)->pMethods->xFileSize(real(f), size);
}
int faultLock(sqlite3_file* f, int level) {
  return real(f)->pMethods->xLock(real(f), level);
}
int faultUnlock(sqlite3_file* f, int level) {
  return real(f)->pMethods->xUnlock(real(f), level);
}
int faultReserved(sqlite3_file* f, int* out) {
  return real(f)->pMethods->xCheckReservedLock(real(f), out);
}
int faultControl(sqlite3_file* f, int op, void* arg) {
  return real(f)->pMethods->xFileControl(real(f), op, arg);
}
int faultSector(sqlite3_file* f) {
  return real(f)->pMethods->xSectorSize(real(f));
}
int faultDevice(sqlite3_file* f) {
  return real(f)->pMethods->xDeviceCharacteristics(real(f));
}

// Version 1 has no shared memory, so this also shows that the store asks for none.
const sqlite3_io_methods kFaultMethods = {
    1,         faultClose,  faultRead,     faultWrite,   faultTruncate, faultSync,   faultSize,
    faultLock, faultUnlock, faultReserved, faultControl, faultSector,   faultDevice, nullptr,
    nullptr,   nullptr,     nullptr,       nullptr,      nullptr};

int faultOpen(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* outFlags) {
  auto* under = static_cast<sqlite3_vfs*>(vfs->pAppData);
  auto* fault = reinterpret_cast<FaultFile*>(file);
  fault->real = reinterpret_cast<sqlite3_file*>(fault + 1);
  std::memset(fault->real, 0, static_cast<size_t>(under->szOsFile));
  const int code = under->xOpen(under, name, fault->real, flags, outFlags);
  fault->base.pMethods = fault->real->pMethods ? &kFaultMethods : nullptr;
  return code;
}

const char* faultVfs() {
  static sqlite3_vfs vfs = [] {
    sqlite3_initialize();
    sqlite3_vfs* under = sqlite3_vfs_find(nullptr);
    sqlite3_vfs copy = *under;
    copy.zName = "faults";
    copy.pAppData = under;
    copy.szOsFile = static_cast<int>(sizeof(FaultFile)) + under->szOsFile;
    copy.xOpen = faultOpen;
    copy.pNext = nullptr;
    return copy;
  }();
  static const int registered = sqlite3_vfs_register(&vfs, 0);
  EXPECT_EQ(registered, SQLITE_OK);
  return "faults";
}

// --- tests ------------------------------------------------------------------------------------

class FaultTest : public ::testing::Test {
 protected:
  void TearDown() override { heal(); }
  static void heal() {
    writesLeft = -1;
    writeCode = SQLITE_FULL;
    failSync = false;
  }
  TempDir dir_;
  LogCapture log_;
  Options options_{.dir = dir_.path(), .vfs = faultVfs()};
};

TEST_F(FaultTest, AFullDiskRefusesWritesAndServesReads) {
  Shop shop(options_);
  const Revision before = shop.put("a", "x");
  auto watch = shop->watch(pods(), "", before, nullptr);
  writesLeft = 0;
  auto refused = shop.now(shop.puts(pods(), "a", "y"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kUnavailable);
  EXPECT_THAT(refused.error().text(),
              AllOf(HasSubstr("nothing was changed"), HasSubstr(dir_.path() + "/store.db"),
                    HasSubstr("disk is full"), HasSubstr("reads go on")));
  EXPECT_EQ(shop->revision(), before);
  EXPECT_EQ(shop->getHead(pods(), "a", "y"), nullptr);
  EXPECT_NE(shop->get(pods(), "a", "x"), nullptr);
  EXPECT_THAT(versions(*shop->list({.resource = pods()})), ElementsAre("a/x@2"));
  EXPECT_THAT(takeAll(*watch), IsEmpty());
  ASSERT_TRUE(shop->stats().writeFailure);
  EXPECT_FALSE(shop.now(shop.puts(pods(), "a", "y"))) << "still full";
  EXPECT_EQ(shop->stats().failures, 2u);
  heal();
  auto written = shop.now(shop.puts(pods(), "a", "y"));
  ASSERT_TRUE(written) << written.error().text();
  EXPECT_GT(*written, before + 1) << "revisions of failed writes are not given again";
  EXPECT_FALSE(shop->stats().writeFailure);
  EXPECT_EQ(takeAll(*watch).size(), 1u);
  shop.reopen();
  EXPECT_EQ(shop->revision(), *written);
  EXPECT_EQ(shop->count(pods()), 2u);
}

TEST_F(FaultTest, WhatBuildsOnALostWriteIsLostWithIt) {
  Shop shop(options_);
  shop.put("a", "x");
  writesLeft = 0;
  std::vector<std::string> outcomes;
  const auto record = [&](std::string what) {
    return
        [&outcomes, what](Result<Revision> r) { outcomes.push_back(what + (r ? " yes" : " no")); };
  };
  Txn first, second, third;
  first.create({pods(), "a", "y"}, body("y", shop->nextRevision()));
  ASSERT_TRUE(shop->commit(std::move(first), record("create")));
  second.update({pods(), "a", "y"}, body("y", shop->nextRevision()), {3});
  ASSERT_TRUE(shop->commit(std::move(second), record("update")));
  third.remove({pods(), "a", "x"}, {2});
  ASSERT_TRUE(shop->commit(std::move(third), record("remove")));
  shop->flush();
  EXPECT_THAT(outcomes, ElementsAre("create no", "update no", "remove no"));
  heal();
  EXPECT_NE(shop->getHead(pods(), "a", "x"), nullptr);
  Txn again;
  again.create({pods(), "a", "y"}, body("y", shop->nextRevision()));
  EXPECT_TRUE(shop.now(std::move(again)));
}

// Commits that arrive after the disk has failed but before the owner knows belong to the lost head.
TEST_F(FaultTest, CommitsBehindAnUnseenFailureFailToo) {
  std::promise<Fn> posted;
  auto store = Store::open(options_, [&](Fn fn) { posted.set_value(std::move(fn)); });
  ASSERT_TRUE(store);
  writesLeft = 0;
  std::vector<bool> outcomes;
  const auto record = [&](Result<Revision> r) { outcomes.push_back(r.has_value()); };
  Txn first, second;
  first.create({pods(), "a", "y"}, body("y", (*store)->nextRevision()));
  ASSERT_TRUE((*store)->commit(std::move(first), record));
  Fn message = posted.get_future().get();  // the writer has failed, the owner has not heard of it
  heal();
  posted = {};
  second.update({pods(), "a", "y"}, body("y", (*store)->nextRevision()), {2});
  ASSERT_TRUE((*store)->commit(std::move(second), record));
  message();
  EXPECT_THAT(outcomes, ElementsAre(false, false));
  EXPECT_EQ((*store)->getHead(pods(), "a", "y"), nullptr);
}

TEST_F(FaultTest, EveryPointOfFailureIsSurvived) {
  for (int code : {SQLITE_FULL, SQLITE_IOERR_WRITE}) {
    for (int left = 0; left < 12; ++left) {
      SCOPED_TRACE(fmt::format("code {} after {} writes", code, left));
      TempDir dir;
      Shop shop({.dir = dir.path(), .windowEvents = 8, .walLimit = kKiB * 16, .vfs = faultVfs()});
      for (int i = 0; i < 10; ++i) shop.put("a", fmt::format("p{}", i % 3));
      writeCode = code;
      writesLeft = left;
      bool failed = false;
      std::string big = fmt::format(R"(,"d":"{}")", std::string(9000, 'x'));
      for (int i = 0; i < 6 && !failed; ++i)
        failed = !shop.now(shop.puts(pods(), "a", fmt::format("p{}", i % 4), "", big));
      heal();
      const auto seen = versions(*shop->list({.resource = pods()}));
      shop.put("b", "after");
      const Revision last = shop->revision();
      shop.reopen();
      EXPECT_EQ(shop->revision(), last);
      EXPECT_EQ(versions(*shop->list({.resource = pods(), .ns = "a"})), seen);
    }
  }
}

// The bytes may be on the disk, or not: whoever wrote is told so, and nobody is shown them.
TEST_F(FaultTest, ASyncThatFailsLeavesTheOutcomeUnknown) {
  Shop shop(options_);
  shop.put("a", "x");
  failSync = true;
  auto refused = shop.now(shop.puts(pods(), "a", "y"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kTimeout);
  EXPECT_THAT(refused.error().text(),
              AllOf(HasSubstr("outcome unknown"), HasSubstr("read the object")));
  EXPECT_EQ(shop->get(pods(), "a", "y"), nullptr);
  heal();
  shop.put("a", "z");
  shop.reopen();
  EXPECT_THAT(paths(shop->list({.resource = pods()})->items), ElementsAre("a/x", "a/z"));
}

// What waited behind it was never written: that is known.
TEST_F(FaultTest, OnlyTheBatchThatWasBeingSyncedIsInDoubt) {
  std::promise<Fn> posted;
  auto store = Store::open(options_, [&](Fn fn) { posted.set_value(std::move(fn)); });
  ASSERT_TRUE(store);
  failSync = true;
  std::vector<Code> codes;
  const auto record = [&](Result<Revision> r) { codes.push_back(r.error().code()); };
  Txn first, second;
  first.create({pods(), "a", "y"}, body("y", (*store)->nextRevision()));
  ASSERT_TRUE((*store)->commit(std::move(first), record));
  Fn message = posted.get_future().get();
  heal();
  posted = {};
  second.create({pods(), "a", "z"}, body("z", (*store)->nextRevision()));
  ASSERT_TRUE((*store)->commit(std::move(second), record));
  message();
  EXPECT_THAT(codes, ElementsAre(Code::kTimeout, Code::kUnavailable));
}

TEST_F(FaultTest, TrimsComeBackAfterAFailure) {
  options_.windowEvents = 10;
  Shop shop(options_);
  for (int i = 0; i < 70; ++i) shop.put("a", "x");
  writesLeft = 0;
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(shop.now(shop.puts(pods(), "a", "x")));
  heal();
  for (int i = 0; i < 200; ++i) shop.put("a", "x");
  shop.reopen();
  EXPECT_EQ(shop->stats().windowEvents, 10u);
  EXPECT_GE(shop->stats().windowStart, Revision{200});
}

TEST_F(FaultTest, ClosesWhileTheDiskIsFull) {
  Shop shop(options_);
  shop.put("a", "x");
  writesLeft = 0;
  bool failed = false;
  ASSERT_TRUE(shop->commit(shop.puts(pods(), "a", "y"), [&](auto r) { failed = !r; }));
  shop.shut();
  EXPECT_TRUE(failed);
  heal();
  shop.reopen();
  EXPECT_THAT(paths(shop->list({.resource = pods()})->items), ElementsAre("a/x"));
}

TEST_F(FaultTest, ARealFullDisk) {
  const std::string disk = dir_.path("small");
  std::filesystem::create_directories(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=1m") != 0)
    GTEST_SKIP() << "cannot mount a small file system: " << std::strerror(errno);
  {
    Shop shop({.dir = disk + "/data", .walLimit = kKiB * 128});
    const std::string big = fmt::format(R"(,"d":"{}")", std::string(20000, 'x'));
    int written = 0;
    Result<Revision> last = Revision{};
    while ((last = shop.now(shop.puts(pods(), "a", fmt::format("p{:03}", written), "", big))))
      ASSERT_LT(++written, 100);
    EXPECT_GT(written, 5);
    EXPECT_THAT(last.error().text(), HasSubstr("full"));
    EXPECT_EQ(shop->count(pods()), static_cast<size_t>(written));
    ASSERT_EQ(::mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=8m"), 0);
    auto healed = shop.now(shop.puts(pods(), "a", "after"));
    EXPECT_TRUE(healed) << healed.error().text();
    shop.reopen();
    EXPECT_EQ(shop->count(pods()), static_cast<size_t>(written) + 1);
  }
  EXPECT_EQ(::umount(disk.c_str()), 0);
}

}  // namespace
}  // namespace mangrove::store
