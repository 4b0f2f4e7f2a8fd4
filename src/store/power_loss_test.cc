// Power goes at random under load. What was not synced is lost in pieces: a file system of SQLite's
// remembers for every file what the last sync has made sure of and which writes came after it; when
// the power goes, each sector of those writes is on the disk or not, as a seed says. Every
// acknowledged write must be there, nothing may be half there, and the store must open.
//
// kill -9 (crash_test.cc) loses nothing that was written; this loses everything that was not synced.

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/number/rng.h"
#include "base/os/files.h"
#include "base/os/log.h"
#include "base/testing/size.h"
#include "store/testing.h"

namespace mangrove::store {
namespace {

constexpr size_t kSector = 512;
const int kLosses = sized(10, 200);

// --- the disk ---------------------------------------------------------------------------------

struct Unsynced {
  size_t at = 0;
  std::string bytes;
  bool truncate = false;  // to `at`
};

struct DiskFile {
  std::string synced;
  std::vector<Unsynced> after;
};

void apply(std::string& content, const Unsynced& write) {
  if (write.truncate) return content.resize(write.at);
  if (content.size() < write.at + write.bytes.size())
    content.resize(write.at + write.bytes.size(), '\0');
  content.replace(write.at, write.bytes.size(), write.bytes);
}

// Thread-safe: the writer's thread works on it, the test's pulls the plug.
class Disk {
 public:
  // False once the power is gone: the call does not happen.
  bool note(const std::string& path, Unsynced write) {
    std::lock_guard lock(mutex_);
    if (off_) return false;
    if (writesLeft_ > 0 && --writesLeft_ == 0) off_ = true;
    files_[path].after.push_back(std::move(write));
    return !off_;
  }
  bool sync(const std::string& path) {
    std::lock_guard lock(mutex_);
    if (off_) return false;
    if (lies_) return true;
    DiskFile& file = files_[path];
    for (const Unsynced& write : file.after) apply(file.synced, write);
    file.after.clear();
    return true;
  }
  void opened(const std::string& path) {
    std::lock_guard lock(mutex_);
    auto content = readFile(path);
    files_.try_emplace(path, DiskFile{content ? *content : "", {}});
  }
  bool remove(const std::string& path) {
    std::lock_guard lock(mutex_);
    if (!off_) files_.erase(path);
    return !off_;
  }
  bool isOff() const {
    std::lock_guard lock(mutex_);
    return off_;
  }
  void goAfter(int writes) {
    std::lock_guard lock(mutex_);
    writesLeft_ = writes;
  }
  void goNow() {
    std::lock_guard lock(mutex_);
    off_ = true;
  }
  // Says that it has synced, and has not.
  void lie(bool lies) {
    std::lock_guard lock(mutex_);
    lies_ = lies;
  }
  // Another test's files.
  void forget() {
    std::lock_guard lock(mutex_);
    files_.clear();
    off_ = false;
    writesLeft_ = 0;
  }
  // Nobody has the files open: puts on the real disk what is left, and the power on again.
  void comeBack(Rng& rng, double chance) {
    std::lock_guard lock(mutex_);
    for (auto& [path, file] : files_) {
      for (const Unsynced& write : file.after) keepSome(file.synced, write, chance, rng);
      ASSERT_TRUE(writeFileAtomically(path, file.synced, {.mode = 0600, .sync = false}));
    }
    files_.clear();
    off_ = false;
    writesLeft_ = 0;
  }

 private:
  static void keepSome(std::string& content, const Unsynced& write, double chance, Rng& rng) {
    if (write.truncate) {
      if (rng.chance(chance)) apply(content, write);
      return;
    }
    for (size_t from = 0; from < write.bytes.size(); from += kSector)
      if (rng.chance(chance))
        apply(content, {write.at + from, write.bytes.substr(from, kSector), false});
  }

  mutable std::mutex mutex_;
  std::map<std::string, DiskFile> files_;
  bool off_ = false;
  int writesLeft_ = 0;
  bool lies_ = false;
};

Disk& disk() {
  static Disk one;
  return one;
}

// --- SQLite's file system over it -------------------------------------------------------------

struct LossyFile {
  sqlite3_file base;
  sqlite3_file* real;
  std::string* path;
};
LossyFile* lossy(sqlite3_file* file) {
  return reinterpret_cast<LossyFile*>(file);
}
sqlite3_file* real(sqlite3_file* file) {
  return lossy(file)->real;
}

int lossyClose(sqlite3_file* f) {
  delete std::exchange(lossy(f)->path, nullptr);
  return real(f)->pMethods->xClose(real(f));
}
int lossyRead(sqlite3_file* f, void* to, int n, sqlite3_int64 at) {
  return real(f)->pMethods->xRead(real(f), to, n, at);
}
int lossyWrite(sqlite3_file* f, const void* from, int n, sqlite3_int64 at) {
  Unsynced write{static_cast<size_t>(at),
                 std::string(static_cast<const char*>(from), static_cast<size_t>(n)), false};
  if (!disk().note(*lossy(f)->path, std::move(write))) return SQLITE_IOERR_WRITE;
  return real(f)->pMethods->xWrite(real(f), from, n, at);
}
int lossyTruncate(sqlite3_file* f, sqlite3_int64 size) {
  if (!disk().note(*lossy(f)->path, {static_cast<size_t>(size), "", true}))
    return SQLITE_IOERR_TRUNCATE;
  return real(f)->pMethods->xTruncate(real(f), size);
}
int lossySync(sqlite3_file* f, int) {
  return disk().sync(*lossy(f)->path) ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}
int lossySize(sqlite3_file* f, sqlite3_int64* size) {
  return real(f)->pMethods->xFileSize(real(f), size);
}
int lossyLock(sqlite3_file* f, int level) {
  return real(f)->pMethods->xLock(real(f), level);
}
int lossyUnlock(sqlite3_file* f, int level) {
  return real(f)->pMethods->xUnlock(real(f), level);
}
int lossyReserved(sqlite3_file* f, int* out) {
  return real(f)->pMethods->xCheckReservedLock(real(f), out);
}
int lossyControl(sqlite3_file* f, int op, void* arg) {
  return real(f)->pMethods->xFileControl(real(f), op, arg);
}
int lossySector(sqlite3_file*) {
  return static_cast<int>(kSector);
}
int lossyDevice(sqlite3_file* f) {
  return real(f)->pMethods->xDeviceCharacteristics(real(f));
}
const sqlite3_io_methods kLossyMethods = {
    1,         lossyClose,  lossyRead,     lossyWrite,   lossyTruncate, lossySync,   lossySize,
    lossyLock, lossyUnlock, lossyReserved, lossyControl, lossySector,   lossyDevice, nullptr,
    nullptr,   nullptr,     nullptr,       nullptr,      nullptr};

sqlite3_vfs* under(sqlite3_vfs* vfs) {
  return static_cast<sqlite3_vfs*>(vfs->pAppData);
}

int lossyOpen(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* outFlags) {
  LossyFile* made = lossy(file);
  made->real = reinterpret_cast<sqlite3_file*>(made + 1);
  made->path = nullptr;
  std::memset(made->real, 0, static_cast<size_t>(under(vfs)->szOsFile));
  if (name) disk().opened(name);
  const int code = under(vfs)->xOpen(under(vfs), name, made->real, flags, outFlags);
  made->base.pMethods = made->real->pMethods ? &kLossyMethods : nullptr;
  if (made->base.pMethods) made->path = new std::string(name ? name : "");
  return code;
}
int lossyDelete(sqlite3_vfs* vfs, const char* name, int syncDir) {
  if (!disk().remove(name)) return SQLITE_IOERR_DELETE;
  return under(vfs)->xDelete(under(vfs), name, syncDir);
}

const char* lossyVfs() {
  static sqlite3_vfs vfs = [] {
    sqlite3_initialize();
    sqlite3_vfs* below = sqlite3_vfs_find(nullptr);
    sqlite3_vfs copy = *below;
    copy.zName = "lossy";
    copy.pAppData = below;
    copy.szOsFile = static_cast<int>(sizeof(LossyFile)) + below->szOsFile;
    copy.xOpen = lossyOpen;
    copy.xDelete = lossyDelete;
    copy.pNext = nullptr;
    return copy;
  }();
  static const int registered = sqlite3_vfs_register(&vfs, 0);
  EXPECT_EQ(registered, SQLITE_OK);
  return "lossy";
}

// --- the test ---------------------------------------------------------------------------------

constexpr int kNames = 12;

// What a name may look like: what was acknowledged last, or anything begun after it. "": absent.
struct Expected {
  std::string acknowledged;
  std::vector<std::string> begun;
};

class Life {
 public:
  Life(Options options, std::map<std::string, Expected>& all, Revision& newest, Rng& rng)
      : shop_(std::move(options)), all_(all), newest_(newest), rng_(rng) {}

  void compare() {
    ASSERT_GE(shop_->revision(), newest_);
    for (auto& [name, expected] : all_) {
      const ObjectPtr object = shop_->get(pods(), "a", name);
      const std::string is = object ? *object->json() : "";
      const bool fits = is == expected.acknowledged ||
                        std::count(expected.begun.begin(), expected.begun.end(), is) > 0;
      ASSERT_TRUE(fits) << name << " is '" << is.substr(0, 80) << "', acknowledged '"
                        << expected.acknowledged.substr(0, 80) << "'";
      expected = {is, {}};
    }
  }
  void writeUntilThePowerGoes() {
    while (!disk().isOff()) {
      for (uint64_t i = 1 + rng_.below(6); i > 0; --i) begin();
      shop_->flush();
    }
  }
  uint64_t acknowledged = 0;

 private:
  void begin() {
    const std::string name = fmt::format("n{}", rng_.below(kNames));
    Txn txn;
    std::string now;
    if (rng_.chance(0.2)) {
      txn.removeAny({pods(), "a", name});
    } else {
      const Body made = body(
          name, shop_->nextRevision(txn), "",
          fmt::format(R"(,"fill":"{}")", std::string(1 + rng_.below(6000), 'a' + rng_.below(26))));
      now = *made;
      txn.put({pods(), "a", name}, made, Precondition::none());
    }
    Expected& expected = all_[name];
    expected.begun.push_back(now);
    auto taken = shop_->commit(std::move(txn), [this, &expected, now](Result<Revision> r) {
      if (!r) return;
      expected.acknowledged = now;
      newest_ = std::max(newest_, *r);
      ++acknowledged;
    });
    if (!taken) expected.begun.pop_back();  // nothing to remove
  }

  Shop shop_;
  std::map<std::string, Expected>& all_;
  Revision& newest_;
  Rng& rng_;
};

TEST(PowerLossTest, EverythingAcknowledgedIsThereAfterEveryLoss) {
  disk().forget();
  TempDir dir;
  LogCapture log;
  Rng rng(20261117);
  const Options options{.dir = dir.path(),
                        .windowEvents = 100,
                        .walLimit = kKiB * 96,
                        .idleBeforeFold = std::chrono::milliseconds(1),
                        .vfs = lossyVfs()};
  std::map<std::string, Expected> all;
  Revision newest = kEmptyStore;
  uint64_t acknowledged = 0;
  for (int loss = 0; loss < kLosses; ++loss) {
    SCOPED_TRACE(fmt::format("loss {}", loss));
    {
      Life life(options, all, newest, rng);
      ASSERT_NO_FATAL_FAILURE(life.compare());
      disk().goAfter(static_cast<int>(1 + rng.below(400)));
      life.writeUntilThePowerGoes();
      acknowledged += life.acknowledged;
    }
    const double kept = std::array{0.0, 1.0, 0.5, 0.9}[rng.below(4)];
    ASSERT_NO_FATAL_FAILURE(disk().comeBack(rng, kept));
  }
  Life last(options, all, newest, rng);
  ASSERT_NO_FATAL_FAILURE(last.compare());
  EXPECT_GT(acknowledged, static_cast<uint64_t>(kLosses)) << "nothing much was tried";
}

// The test can fail: on a disk that says "synced" and is not, acknowledged writes are gone.
TEST(PowerLossTest, NoticesADiskThatLies) {
  disk().forget();
  TempDir dir;
  LogCapture log;
  Rng rng(1);
  const Options options{.dir = dir.path(), .vfs = lossyVfs()};
  Shop(options).shut();  // the file is made honestly
  disk().lie(true);
  {
    Shop shop(options);
    EXPECT_GT(shop.put("a", "x"), kEmptyStore) << "acknowledged";
    disk().goNow();
  }
  ASSERT_NO_FATAL_FAILURE(disk().comeBack(rng, 0.0));
  disk().lie(false);
  Shop shop(options);
  EXPECT_EQ(shop->get(pods(), "a", "x"), nullptr);
}

}  // namespace
}  // namespace mangrove::store
