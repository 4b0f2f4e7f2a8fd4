#pragma once
// The store's file: one SQLite table with a row for every version that the newest state or the
// window of history needs. A change is one row appended; a row is removed when its version has been
// superseded and has left the window. The newest row of each key is the object, so the JSON is
// written once per change and there is no second copy to keep in step.
//
//   sqlite3 store.db 'SELECT resource, namespace, name, revision FROM objects'   (when not in use)
//
// One thread at a time: the owner thread opens and loads, then the writer thread has it.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/backup.h"
#include "store/data_dir.h"
#include "store/history.h"
#include "store/object.h"
#include "store/sealer.h"

namespace mangrove::store {

// A row as it comes back; the texts live until the callback returns.
struct StoredRow {
  Revision revision;
  Revision created;
  std::string_view resource, ns, name, json;
  std::optional<WallTime> expireAt;
  bool deleted = false;
};

struct Change {
  ObjectPtr object;
  bool deleted = false;
  int64_t growth = 0;  // bytes of JSON more than before
};

// One transaction of the store as the database sees it.
struct WriteItem {
  uint64_t sequence = 0;
  std::vector<Change> changes;
  std::shared_ptr<const Trim> trim;  // may be null
};

class Database {
 public:
  // Makes the file when the directory has none; the lock goes with the database.
  static Result<Database> open(DataDir dir, const std::string& vfs,
                               std::shared_ptr<const Sealer> seal = nullptr);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  // Every row in the order of revisions. An error of the callback ends it: kInvalid means damage.
  Result<Revision> windowStart();
  Result<> load(const std::function<Result<>(const StoredRow&)>& take);

  // All of it durable when this returns, or none of it; kTimeout: an fsync failed, which says nothing
  // about what has reached the disk.
  Result<> write(std::span<const WriteItem> items);
  // Moves the write-ahead log into the database file.
  Result<> fold();
  // A copy of the file, made in steps between the writes; the database must outlive it.
  Result<BackupCopy> copyTo(const std::string& path);
  size_t walBytes() const;
  const std::string& path() const;

 private:
  struct Impl;
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace mangrove::store
