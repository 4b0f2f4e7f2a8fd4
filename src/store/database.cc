#include "store/database.h"

#include <sqlite3.h>

#include "store/database_file.h"
#include "store/row_sum.h"
#include "store/sqlite.h"

namespace mangrove::store {
namespace {

constexpr size_t kWalFrameBytes = 4096 + 24;  // page and frame header
// Before what a Sealer made; JSON begins otherwise.
constexpr std::string_view kSealed = "sealed:";

std::string placeOf(const StoredRow& row) {
  return fmt::format("{} {}/{}@{}", row.resource, row.ns, row.name, row.revision.v);
}

// `opened` holds the text that the row points to afterwards.
Result<> openSeal(const Sealer* seal, StoredRow& row, std::string& opened) {
  if (!row.json.starts_with(kSealed)) return {};
  if (!seal)
    return invalid("{} is encrypted: start with the --encryption-key-file it was written with",
                   placeOf(row));
  auto plain = seal->open(row.json.substr(kSealed.size()), placeOf(row));
  if (!plain) return pass(plain.error());
  opened = std::move(*plain);
  row.json = opened;
  return {};
}

}  // namespace
struct Database::Impl {
  Impl(DataDir held, Sqlite opened, std::string file)
      : dir(std::move(held)), path(std::move(file)), db(std::move(opened)) {}
  DataDir dir;  // holds the lock; the last to go
  std::string path;
  Sqlite db;
  std::shared_ptr<const Sealer> seal;
  Statement insert, drop, setStart, begin, commit;
  int walPages = 0;  // the file itself keeps its size when its content has been folded

  static int onCommit(void* self, sqlite3*, const char*, int pages) {
    static_cast<Impl*>(self)->walPages = pages;
    return SQLITE_OK;
  }

  Result<> prepare();
  Result<> step(Statement& statement);
  Result<> writeChange(const Change& change);
  Result<> writeTrim(const Trim& trim);
  Result<> writeItems(std::span<const WriteItem> items);
};

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<> Database::Impl::prepare() {
  const std::pair<Statement*, const char*> wanted[] = {
      {&insert, "INSERT INTO history VALUES(?,?,?,?,?,?,?,?,?)"},
      {&drop, "DELETE FROM history WHERE revision = ?"},
      {&setStart, "UPDATE history_window SET start = ?"},
      {&begin, "BEGIN IMMEDIATE"},
      {&commit, "COMMIT"},
  };
  for (auto [statement, sql] : wanted) {
    auto prepared = db.prepare(sql);
    if (!prepared) return pass(prepared.error());
    *statement = std::move(*prepared);
  }
  return {};
}

Result<Database> Database::open(DataDir dir, const std::string& vfs,
                                std::shared_ptr<const Sealer> seal) {
  const std::string path = databasePath(dir);
  auto db = openDatabaseFile(dir, vfs);
  if (!db) return pass(db.error());
  auto impl = std::make_unique<Impl>(std::move(dir), std::move(*db), path);
  impl->seal = std::move(seal);
  if (auto prepared = impl->prepare(); !prepared) return damaged(path, prepared.error().text());
  sqlite3_wal_hook(impl->db.raw(), &Impl::onCommit, impl.get());
  return Database(std::move(impl));
}

Result<Revision> Database::windowStart() {
  auto start = impl_->db.askInteger("SELECT start FROM history_window");
  if (!start) return damaged(impl_->path, start.error().text());
  return Revision{static_cast<uint64_t>(*start)};
}

namespace {

StoredRow rowOf(const Statement& at) {
  StoredRow row;
  row.revision.v = static_cast<uint64_t>(at.integer(0));
  row.resource = at.text(1);
  row.ns = at.text(2);
  row.name = at.text(3);
  row.created.v = static_cast<uint64_t>(at.integer(4));
  row.deleted = at.integer(5) != 0;
  if (!at.isNull(6)) row.expireAt = WallTime(std::chrono::microseconds(at.integer(6)));
  row.json = at.text(8);
  return row;
}

}  // namespace

Result<> Database::load(const std::function<Result<>(const StoredRow&)>& take) {
  auto rows = impl_->db.prepare("SELECT * FROM history ORDER BY revision");
  if (!rows) return damaged(impl_->path, rows.error().text());
  std::string opened;
  for (;;) {
    const int code = rows->step();
    if (code == SQLITE_DONE) return {};
    if (code != SQLITE_ROW) {
      const Failure failure = impl_->db.failure(code);
      return isDamage(code) ? damaged(impl_->path, failure.value().text()) : failure;
    }
    StoredRow row = rowOf(*rows);
    if (rowSum(row) != static_cast<uint64_t>(rows->integer(7)))
      return damaged(impl_->path,
                     fmt::format("the checksum of revision {} differs", row.revision.v));
    if (auto plain = openSeal(impl_->seal.get(), row, opened); !plain)
      return plain.error().in("{}", impl_->path);
    if (auto taken = take(row); !taken) return damaged(impl_->path, taken.error().text());
  }
}

Result<> Database::Impl::step(Statement& statement) {
  const int code = statement.step();
  if (code == SQLITE_DONE) return {};
  const Failure failure = db.failure(code);
  if (code != SQLITE_IOERR_FSYNC && code != SQLITE_IOERR_DIR_FSYNC) return failure;
  return fail(Code::kTimeout, "{}", failure.value().text());
}

Result<> Database::Impl::writeChange(const Change& change) {
  const Object& object = *change.object;
  const Body json = object.json();
  StoredRow row{object.revision(), object.createRevision(), object.resource().view(),
                object.ns(),       object.name(),           *json,
                object.expireAt(), change.deleted};
  std::string sealed;
  if (seal && seal->wants(row.resource)) {
    auto made = seal->seal(row.json, placeOf(row));
    if (!made) return pass(made.error());
    sealed = fmt::format("{}{}", kSealed, *made);
    row.json = sealed;
  }
  insert.bind(1, static_cast<int64_t>(row.revision.v));
  insert.bind(2, row.resource);
  insert.bind(3, row.ns);
  insert.bind(4, row.name);
  insert.bind(5, static_cast<int64_t>(row.created.v));
  insert.bind(6, int64_t{row.deleted});
  if (row.expireAt)
    insert.bind(7, row.expireAt->time_since_epoch().count());
  else
    insert.bindNull(7);
  insert.bind(8, static_cast<int64_t>(rowSum(row)));
  insert.bind(9, row.json);
  return step(insert);
}

Result<> Database::Impl::writeTrim(const Trim& trim) {
  for (Revision row : trim.rows) {
    drop.bind(1, static_cast<int64_t>(row.v));
    if (auto dropped = step(drop); !dropped) return dropped;
  }
  setStart.bind(1, static_cast<int64_t>(trim.start.v));
  return step(setStart);
}

Result<> Database::Impl::writeItems(std::span<const WriteItem> items) {
  for (const WriteItem& item : items) {
    for (const Change& change : item.changes)
      if (auto written = writeChange(change); !written) return written;
    if (!item.trim) continue;
    if (auto trimmed = writeTrim(*item.trim); !trimmed) return trimmed;
  }
  return {};
}

Result<> Database::write(std::span<const WriteItem> items) {
  Result<> done = impl_->step(impl_->begin);
  if (done) done = impl_->writeItems(items);
  if (done) done = impl_->step(impl_->commit);
  if (!done) impl_->db.rollBack();
  return done;
}

Result<> Database::fold() {
  auto left = impl_->db.checkpoint();
  if (!left) return pass(left.error());
  impl_->walPages = *left;
  return {};
}

Result<BackupCopy> Database::copyTo(const std::string& path) {
  return BackupCopy::start(impl_->db, path);
}

size_t Database::walBytes() const {
  return static_cast<size_t>(impl_->walPages) * kWalFrameBytes;
}

const std::string& Database::path() const {
  return impl_->path;
}

}  // namespace mangrove::store
