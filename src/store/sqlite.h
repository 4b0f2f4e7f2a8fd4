#pragma once
// The few things we ask of SQLite, with our errors. Only the .cc files of this folder see SQLite's
// own header. One thread at a time.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace mangrove::store {

class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* handle) : handle_(handle) {}

  // Places count from 1. Texts must stay where they are until the next step().
  void bind(int place, int64_t value);
  void bind(int place, std::string_view text);
  void bindNull(int place);
  // SQLite's code: row, done or an error. Resets itself unless there is a row.
  int step();
  void reset();

  int64_t integer(int column) const;
  std::string_view text(int column) const;
  bool isNull(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

class Sqlite {
 public:
  enum class Mode { kMake, kExisting };
  static Result<Sqlite> open(const std::string& path, Mode mode, const std::string& vfs);

  Result<Statement> prepare(const char* sql);
  Result<> run(const char* sql);
  // The first column of the first row as text or number.
  Result<std::string> askText(const char* sql);
  Result<int64_t> askInteger(const char* sql);
  // Ends an open transaction, if the failure has not ended it already.
  void rollBack();
  // Folds the whole write-ahead log; the number of frames left in it.
  Result<int> checkpoint();
  // The error of the call that has just failed, as a sentence about the file.
  Failure failure(int code) const;
  Result<> close();

  sqlite3* raw() const { return handle_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  Sqlite(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  std::unique_ptr<sqlite3, Close> handle_;
  std::string path_;
};

// Whether the code says that the file itself is broken.
bool isDamage(int sqliteCode);

}  // namespace mangrove::store
