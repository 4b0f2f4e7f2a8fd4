#include "store/sqlite.h"

#include <cstring>

#include <sqlite3.h>

namespace mangrove::store {

void Statement::Finalize::operator()(sqlite3_stmt* handle) const {
  sqlite3_finalize(handle);
}

void Statement::bind(int place, int64_t value) {
  sqlite3_bind_int64(handle_.get(), place, value);
}

void Statement::bind(int place, std::string_view text) {
  // A null pointer would be taken for SQL's NULL.
  sqlite3_bind_text64(handle_.get(), place, text.data() ? text.data() : "", text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::bindNull(int place) {
  sqlite3_bind_null(handle_.get(), place);
}

int Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code != SQLITE_ROW) reset();
  return code;
}

void Statement::reset() {
  sqlite3_reset(handle_.get());
}

int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

std::string_view Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  const int size = sqlite3_column_bytes(handle_.get(), column);
  return bytes == nullptr ? std::string_view() : std::string_view(bytes, static_cast<size_t>(size));
}

bool Statement::isNull(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}

void Sqlite::Close::operator()(sqlite3* handle) const {
  sqlite3_close_v2(handle);
}

Result<Sqlite> Sqlite::open(const std::string& path, Mode mode, const std::string& vfs) {
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (mode == Mode::kMake ? SQLITE_OPEN_CREATE : 0);
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, flags, vfs.empty() ? nullptr : vfs.c_str());
  Sqlite opened(handle, path);
  if (code != SQLITE_OK) return opened.failure(code);
  // Asked to write what it may not, SQLite opens for reading and says so only later.
  if (sqlite3_db_readonly(handle, "main") == 1)
    return fail(Code::kDenied, "{} cannot be written: want a file and directory of our own", path);
  return opened;
}

Failure Sqlite::failure(int code) const {
  const int os = handle_ ? sqlite3_system_errno(handle_.get()) : 0;
  const char* text = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
  const bool io = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
  std::string sentence = fmt::format("{}: {}", path_, text);
  if (io && os != 0) sentence += fmt::format(" ({})", std::strerror(os));
  return Failure(Error(isDamage(code) ? Code::kInvalid : Code::kIo, std::move(sentence), os));
}

Result<Statement> Sqlite::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v3(handle_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return failure(code);
  return Statement(statement);
}

Result<> Sqlite::run(const char* sql) {
  const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failure(code);
  return {};
}

Result<std::string> Sqlite::askText(const char* sql) {
  auto statement = prepare(sql);
  if (!statement) return pass(statement.error());
  const int code = statement->step();
  if (code == SQLITE_DONE) return std::string();
  if (code != SQLITE_ROW) return failure(code);
  return std::string(statement->text(0));
}

Result<int64_t> Sqlite::askInteger(const char* sql) {
  auto statement = prepare(sql);
  if (!statement) return pass(statement.error());
  const int code = statement->step();
  if (code != SQLITE_ROW) return failure(code);
  return statement->integer(0);
}

void Sqlite::rollBack() {
  if (sqlite3_get_autocommit(handle_.get()) == 0)
    sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

Result<int> Sqlite::checkpoint() {
  int frames = 0, folded = 0;
  const int code = sqlite3_wal_checkpoint_v2(handle_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE,
                                             &frames, &folded);
  if (code != SQLITE_OK) return failure(code);
  return frames - folded;
}

Result<> Sqlite::close() {
  sqlite3* handle = handle_.release();
  const int code = sqlite3_close(handle);
  if (code == SQLITE_OK) return {};
  handle_.reset(handle);
  return failure(code);
}

bool isDamage(int sqliteCode) {
  const int primary = sqliteCode & 0xff;
  return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB || primary == SQLITE_MISMATCH;
}

}  // namespace mangrove::store
