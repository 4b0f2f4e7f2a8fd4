#include "store/backup.h"

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <fmt/core.h>
#include <sqlite3.h>
#include <unistd.h>

#include "base/os/fd.h"
#include "store/data_dir.h"
#include "store/database_file.h"

namespace mangrove::store {

namespace {

constexpr int kPagesAtOnce = 256;  // a megabyte; some milliseconds
constexpr const char* kFilesTable =
    "CREATE TABLE backup_files(name TEXT PRIMARY KEY, bytes TEXT NOT NULL)";

Result<> syncFile(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return failErrno(errno, "sync " + path);
  return {};
}

Result<> makeEmpty(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return failErrno(errno, "make " + path);
  return {};
}

// A file that is not in use needs no log beside it.
Result<Sqlite> openAlone(const std::string& path) {
  auto db = Sqlite::open(path, Sqlite::Mode::kExisting, "");
  if (!db) return db;
  if (auto ok = db->run("PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF;"); !ok)
    return pass(ok.error());
  return db;
}

Result<BackupFiles> takeFiles(Sqlite& db) {
  BackupFiles out;
  auto there = db.askInteger("SELECT count(*) FROM sqlite_master WHERE name = 'backup_files'");
  if (!there) return pass(there.error());
  if (*there == 0) return out;
  auto rows = db.prepare("SELECT name, bytes FROM backup_files");
  if (!rows) return pass(rows.error());
  int code = 0;
  while ((code = rows->step()) == SQLITE_ROW)
    out.emplace(std::string(rows->text(0)), std::string(rows->text(1)));
  if (code != SQLITE_DONE) return db.failure(code);
  rows = Statement();  // lets go of the table
  if (auto ok = db.run("DROP TABLE backup_files"); !ok) return pass(ok.error());
  return out;
}

}  // namespace

struct BackupCopy::Impl {
  struct Finish {
    void operator()(sqlite3_backup* handle) const { sqlite3_backup_finish(handle); }
  };
  std::string path;
  Sqlite to;
  std::unique_ptr<sqlite3_backup, Finish> copy;
};

BackupCopy::BackupCopy(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BackupCopy::BackupCopy(BackupCopy&&) noexcept = default;
BackupCopy& BackupCopy::operator=(BackupCopy&&) noexcept = default;
BackupCopy::~BackupCopy() = default;

Result<BackupCopy> BackupCopy::start(Sqlite& from, const std::string& path) {
  if (auto ok = makeEmpty(path); !ok) return pass(ok.error());
  auto to = Sqlite::open(path, Sqlite::Mode::kExisting, "");
  if (!to) return pass(to.error());
  if (auto ok = to->run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"); !ok)
    return pass(ok.error());
  auto impl = std::make_unique<Impl>(Impl{path, std::move(*to), nullptr});
  impl->copy.reset(sqlite3_backup_init(impl->to.raw(), "main", from.raw(), "main"));
  if (!impl->copy) return impl->to.failure(sqlite3_errcode(impl->to.raw()));
  return BackupCopy(std::move(impl));
}

Result<bool> BackupCopy::step() {
  const int code = sqlite3_backup_step(impl_->copy.get(), kPagesAtOnce);
  if (code == SQLITE_OK) return false;
  if (code != SQLITE_DONE) return impl_->to.failure(code);
  impl_->copy.reset();
  auto newest = impl_->to.askInteger("SELECT coalesce(max(revision), 0) FROM history");
  if (!newest) return pass(newest.error());
  revision_.v = static_cast<uint64_t>(*newest);
  if (auto ok = impl_->to.close(); !ok) return pass(ok.error());
  if (auto ok = syncFile(impl_->path); !ok) return pass(ok.error());
  return true;
}

Result<> addToBackup(const std::string& path, const BackupFiles& files) {
  auto db = openAlone(path);
  if (!db) return pass(db.error());
  if (auto ok = db->run("PRAGMA journal_mode = DELETE"); !ok) return ok;
  if (auto ok = db->run(kFilesTable); !ok) return ok;
  auto insert = db->prepare("INSERT INTO backup_files VALUES(?, ?)");
  if (!insert) return pass(insert.error());
  for (const auto& [name, bytes] : files) {
    insert->bind(1, name);
    insert->bind(2, bytes);
    if (const int code = insert->step(); code != SQLITE_DONE) return db->failure(code);
  }
  *insert = Statement();
  if (auto ok = db->close(); !ok) return ok;
  return syncFile(path);
}

Result<> restoreBackup(const std::string& path, const std::string& dir, const KeepFiles& keep) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return fail(Code::kNotFound, "{}: there is no such backup", path);
  auto home = DataDir::lock(dir);
  if (!home) return pass(home.error());
  const std::string target = databasePath(*home), fresh = target + ".restored";
  for (const char* suffix : {"", "-wal"})
    if (std::filesystem::exists(target + suffix, error))
      return fail(Code::kExists,
                  "{}{} is there: restore into an empty directory, or move the store away first",
                  target, suffix);
  std::filesystem::remove(fresh, error);
  if (auto ok = makeEmpty(fresh); !ok) return pass(ok.error());
  std::filesystem::copy_file(path, fresh, std::filesystem::copy_options::overwrite_existing, error);
  if (error) return failErrno(error.value(), "copy " + path);
  std::filesystem::permissions(fresh, std::filesystem::perms(0600), error);  // not the backup's
  auto db = openAlone(fresh);
  if (!db) return pass(db.error());
  if (auto ok = requireVersion(*db, path); !ok) return pass(ok.error());
  auto whole = db->askText("PRAGMA integrity_check");
  if (!whole || *whole != "ok") return damaged(path, whole ? *whole : whole.error().text());
  if (auto ok = db->run("PRAGMA journal_mode = DELETE"); !ok) return pass(ok.error());
  auto files = takeFiles(*db);
  if (!files) return pass(files.error());
  if (auto ok = db->run("PRAGMA journal_mode = WAL"); !ok) return ok;
  if (auto ok = db->close(); !ok) return ok;
  if (auto ok = syncFile(fresh); !ok) return ok;
  if (auto ok = keep(*files); !ok) return ok;
  if (::rename(fresh.c_str(), target.c_str()) != 0) return failErrno(errno, "rename " + fresh);
  return home->sync();
}

}  // namespace mangrove::store
