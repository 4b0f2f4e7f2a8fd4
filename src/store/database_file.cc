#include "store/database_file.h"

#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

namespace mangrove::store {
namespace {

constexpr int64_t kApplicationId = 0x4d475631;  // "MGV1", shown by file(1)
// 2: rows may be sealed (store/sealer.h); a program of format 1 would take those for damage.
constexpr int64_t kSchemaVersion = 2;

// From each older format to the next; the first turns 1 into 2. Nothing but the mark changes there.
constexpr const char* kUpgrades[] = {""};

constexpr const char* kSchema = R"(
  CREATE TABLE history(
    revision  INTEGER PRIMARY KEY,
    resource  TEXT NOT NULL,
    namespace TEXT NOT NULL,
    name      TEXT NOT NULL,
    created   INTEGER NOT NULL,  -- revision of the object's first version
    deleted   INTEGER NOT NULL,  -- 1: the object ended with this version
    expires   INTEGER,           -- microseconds since 1970
    sum       INTEGER NOT NULL,  -- over all other columns
    json      TEXT NOT NULL
  );
  CREATE TABLE history_window(start INTEGER NOT NULL);
  INSERT INTO history_window VALUES(1);
  CREATE VIEW objects AS
    SELECT resource, namespace, name, max(revision) AS revision, created, expires, json
    FROM history GROUP BY resource, namespace, name HAVING deleted = 0;
)";

// FULL: a commit is an fsync of the log. EXCLUSIVE: no shared memory, no file locks per
// transaction.
constexpr const char* kSettings = R"(
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA synchronous = FULL;
  PRAGMA wal_autocheckpoint = 0;
  PRAGMA journal_size_limit = 16777216;
  PRAGMA cache_size = -1024;
  PRAGMA temp_store = MEMORY;
  PRAGMA mmap_size = 0;
)";

// The log is only made durable under its final name when it is whole: an empty or half-made
// store.db is therefore always damage, never an interrupted first start.
Result<> makeFile(const DataDir& dir, const std::string& vfs) {
  const std::string fresh = dir.file("store.db.new");
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    std::filesystem::remove(fresh + suffix, ignored);
  // SQLite would make it readable for all; the store holds secrets.
  UniqueFd fd(::open(fresh.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) return failErrno(errno, "make " + fresh);
  auto made = Sqlite::open(fresh, Sqlite::Mode::kMake, vfs);
  if (!made) return pass(made.error());
  // Nothing to protect before it has its name: one flush at the end instead of one per statement.
  const std::string setup = fmt::format(
      "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
      "BEGIN; "
      "PRAGMA application_id = {}; PRAGMA user_version = {}; {} COMMIT; PRAGMA journal_mode = WAL;",
      kApplicationId, kSchemaVersion, kSchema);
  if (auto run = made->run(setup.c_str()); !run) return run;
  if (auto closed = made->close(); !closed) return closed;
  if (::fsync(fd.get()) != 0) return failErrno(errno, "sync " + fresh);
  if (::rename(fresh.c_str(), databasePath(dir).c_str()) != 0)
    return failErrno(errno, "rename " + fresh);
  return dir.sync();
}

Result<> requireFile(const DataDir& dir, const std::string& vfs) {
  const std::string path = databasePath(dir);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    if (std::filesystem::exists(path + "-wal", error))
      return invalid(
          "{} is missing but its log {}-wal is there: put the database back beside it, or move the "
          "log away to start empty",
          path, path);
    return makeFile(dir, vfs);
  }
  if (std::filesystem::file_size(path, error) == 0) return damaged(path, "the file is empty");
  return {};
}

// SQLite's word for a broken file, with what to do about it.
Failure explained(const std::string& path, const Error& error) {
  return error.code() == Code::kInvalid ? damaged(path, error.text()) : pass(error);
}

}  // namespace

Result<> requireVersion(Sqlite& db, const std::string& path) {
  auto application = db.askInteger("PRAGMA application_id");
  if (!application) return explained(path, application.error());
  if (*application != kApplicationId)
    return invalid("{} is a SQLite database but not a store of mangrove: use another directory",
                   path);
  auto version = db.askInteger("PRAGMA user_version");
  if (!version) return explained(path, version.error());
  if (*version < 1 || *version > kSchemaVersion)
    return fail(
        Code::kUnsupported,
        "{} has format {}, this mangrove reads format 1 to {}: run the version that wrote it, or "
        "move the file away to start empty",
        path, *version, kSchemaVersion);
  return {};
}

// One transaction each, so that a crash leaves a whole older format or a whole newer one.
Result<> upgrade(Sqlite& db, const std::string& path) {
  auto version = db.askInteger("PRAGMA user_version");
  if (!version) return explained(path, version.error());
  for (int64_t from = *version; from < kSchemaVersion; ++from) {
    const std::string sql =
        fmt::format("BEGIN; {} PRAGMA user_version = {}; COMMIT;", kUpgrades[from - 1], from + 1);
    if (auto done = db.run(sql.c_str()); !done) {
      db.rollBack();
      return done.error().in("{}: from format {} to {}", path, from, from + 1);
    }
  }
  return {};
}

std::string databasePath(const DataDir& dir) {
  return dir.file("store.db");
}

Failure damaged(const std::string& path, const std::string& what) {
  return invalid(
      "{} is damaged ({}). Move it and {}-wal away, then 'mangrove restore' a backup, or start "
      "empty; "
      "'sqlite3 {} .recover' shows what can still be read",
      path, what, path, path);
}

Result<Sqlite> openDatabaseFile(const DataDir& dir, const std::string& vfs) {
  const std::string path = databasePath(dir);
  if (auto there = requireFile(dir, vfs); !there) return pass(there.error());
  auto db = Sqlite::open(path, Sqlite::Mode::kExisting, vfs);
  if (!db) return explained(path, db.error());
  // Before anything is read: the locking mode decides whether shared memory is used.
  if (auto set = db->run(kSettings); !set) return explained(path, set.error());
  if (auto version = requireVersion(*db, path); !version) return pass(version.error());
  auto mode = db->askText("PRAGMA journal_mode = WAL");
  if (!mode) return explained(path, mode.error());
  if (*mode != "wal") return invalid("{}: journal mode is '{}', want 'wal'", path, *mode);
  if (auto done = upgrade(*db, path); !done) return pass(done.error());
  return db;
}

}  // namespace mangrove::store
